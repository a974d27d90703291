/** Id of a signed proof, which counts once. */
export interface UsedId {
  /** Kind of the proof. Ids of different kinds are different, also if their digests are equal. */
  readonly namespace: 'client_assertion' | 'dpop';
  /** SHA-256 of the id and of everything else that makes it unique, such as the client. */
  readonly digest: Uint8Array;
  /** End of the proof, in milliseconds since the Unix epoch. From then on its id is not kept. */
  readonly expiresAt: number;
  readonly now: number;
}

/** Ids (`jti`) of signed proofs that were used, so that no proof is accepted twice. */
export interface UsedIdStore {
  /**
   * Marks an id as used. Of any number of calls for one id, over any number of processes, exactly one answers `true`, until the id
   * has ended (`expiresAt <= now`).
   */
  use(id: UsedId): Promise<boolean>;
}
