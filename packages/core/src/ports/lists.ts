/** Position in a list that is sorted by time (milliseconds since the Unix epoch) and then by id. */
export interface ListPosition {
  readonly time: number;
  readonly id: string;
}

/** Limits for the rows of a list. The newest rows within both limits are kept. */
export interface Quota {
  readonly rows: number;
  /** Largest total size of the rows' texts, in UTF-8 bytes. */
  readonly bytes: number;
}
