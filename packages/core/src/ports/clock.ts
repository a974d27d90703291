/** Source of the current time. */
export interface Clock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
}
