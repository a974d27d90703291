/** Position in a list that is sorted by time (milliseconds since the Unix epoch) and then by id. */
export interface ListPosition {
  readonly time: number;
  readonly id: string;
}

/** Selects a page of a list that is sorted by name or by time of creation, and then by id. */
export interface SortedPage {
  readonly by: 'name' | 'created';
  /** True to list in descending order: the last name, or the latest time, first. */
  readonly descending: boolean;
  /**
   * Position after which the list continues, in its own order: the sorted value (a name as it is sorted, or
   * milliseconds since the Unix epoch) and the id; `null` starts at the beginning.
   */
  readonly after: { readonly value: string | number; readonly id: string } | null;
  readonly limit: number;
}

/** Search for stored records by a word of their name. */
export interface NameSearch {
  /** Beginning of one word, or of several words in sequence, in the form in which names are sorted. */
  readonly words: string;
  /**
   * Maximum number of names to search, counted from the first name in sort order. The maximum keeps a search
   * cheap.
   */
  readonly searched: number;
  readonly limit: number;
}

/** Request for a page of a list that is sorted by time and then by id, in either direction. */
export interface TimedPage {
  /** True to list the oldest rows first; the list then continues with rows newer than `after`. */
  readonly oldestFirst: boolean;
  /** Position after which the list continues, in its own order; `null` starts at the beginning. */
  readonly after: ListPosition | null;
  readonly limit: number;
}

/** Limits for the stored rows of a list. The newest rows within both limits are kept. */
export interface Quota {
  readonly rows: number;
  /** Maximum total size of the texts in the rows, in UTF-8 bytes. */
  readonly bytes: number;
}
