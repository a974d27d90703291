/** A secret at rest, and the row that it belongs to. */
export interface SealedSecret {
  readonly id: string;
  /** Opens only with a sealing key of the host. */
  readonly sealed: string;
}

/** The secret of a row, sealed with another key. */
export interface ResealedSecret extends SealedSecret {
  /** The value that was read. A row with another value is left as it is. */
  readonly before: string;
}

/**
 * A store whose rows hold a secret each, for a change of the sealing key. The secrets themselves stay what they are, so
 * nothing of this changes a version or a time, or is an act for the audit log.
 */
export interface SealedSecrets {
  /** Sealed secrets of all rows whose id sorts after `after` (by code point), by id, at most `limit`. */
  listSealed(page: { readonly after: string | null; readonly limit: number }): Promise<SealedSecret[]>;
  /**
   * Replaces the sealed secret of each row that still holds `before`, in one short transaction; rows that were changed
   * or removed meanwhile are left as they are. No id may be given twice. Answers how many it replaced.
   */
  reseal(secrets: readonly ResealedSecret[]): Promise<number>;
}
