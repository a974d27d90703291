/** Id of a signed proof (a JWT) that may be used only once. */
export interface UsedId {
  /** Kind of the proof. Ids of different kinds are different, even if their digests are equal. */
  readonly namespace: 'client_assertion' | 'dpop';
  /** SHA-256 of the proof's id and of other values that make it unique, such as the client. */
  readonly digest: Uint8Array;
  /**
   * Time until which the id is stored, in milliseconds since the Unix epoch. The proof has expired by then.
   * The id is deleted afterwards.
   */
  readonly expiresAt: number;
  readonly now: number;
}

/** Stores ids (`jti`) of used signed proofs, so that no proof is accepted twice. */
export interface UsedIdStore {
  /**
   * Marks the id of a proof as used. Of any number of calls for one id, over any number of processes, exactly
   * one returns `true`, until the id expires (`expiresAt <= now`).
   */
  use(id: UsedId): Promise<boolean>;
}
