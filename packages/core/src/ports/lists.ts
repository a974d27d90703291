/** A place in a list that is sorted by a time, in milliseconds since the Unix epoch, and then by id. */
export interface ListPosition {
  readonly time: number;
  readonly id: string;
}
