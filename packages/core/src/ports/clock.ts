/** The source of the time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}
