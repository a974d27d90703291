/** An encrypted secret with the id of its row. */
export interface SealedSecret {
  readonly id: string;
  /** The secret, encrypted with a sealing key. */
  readonly sealed: string;
}

/** A row's secret after encryption with another sealing key. */
export interface ResealedSecret extends SealedSecret {
  /** The encrypted value as it was read. A row that now holds another value is left unchanged. */
  readonly before: string;
}

/**
 * A store whose rows each hold an encrypted secret, for a change of the sealing key. The secrets themselves
 * do not change, so encrypting them again changes no version or time and is not in the audit log.
 */
export interface SealedSecrets {
  /**
   * Lists the encrypted secrets by row id (in code point order), starting after the id `after`, at most
   * `limit`.
   */
  listSealed(page: { readonly after: string | null; readonly limit: number }): Promise<SealedSecret[]>;
  /**
   * Replaces the encrypted secret of each row that still holds `before`, in one short transaction. Rows that
   * were changed or removed in the meantime stay as they are. Each id must occur once. Returns the number of
   * replaced secrets.
   */
  reseal(secrets: readonly ResealedSecret[]): Promise<number>;
}
