/** A place in a list that is sorted by a time, in milliseconds since the Unix epoch, and then by id. */
export interface ListPosition {
  readonly time: number;
  readonly id: string;
}

/** Rows of a list that stay: the newest ones, as many as are within both bounds. */
export interface Quota {
  readonly rows: number;
  /** Total size of the texts that the rows hold, as UTF-8. */
  readonly bytes: number;
}
