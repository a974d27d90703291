/** Numbers of secrets that were encrypted with a previous key, by result. */
export interface Resealed {
  /** Number of secrets that are now encrypted with the first key. */
  readonly sealed: number;
  /** Number of secrets that no key can decrypt. They are unchanged. */
  readonly unopened: number;
}

/** Result of one call of {@link HostSecrets.reseal}. */
export interface ResealedPortion extends Resealed {
  /** True if the call left secrets to another call, which follows at once. Left out or false if none is left. */
  readonly hasMore?: boolean;
}

/**
 * Functions for secrets that your server itself stores, encrypted with keys that it derives from `sealingKeys`.
 * With these functions, Ostiary counts and encrypts them together with its own secrets.
 */
export interface HostSecrets {
  /** Counts your secrets that are encrypted with another key than the first. Called by `ostiary.admin.health`. */
  countSealedOtherwise(): Promise<number> | number;
  /**
   * Encrypts your secrets again with the first key, and leaves those unchanged that no key can decrypt. Called by
   * `ostiary.admin.reseal`, and by workers every ten minutes while there are several sealing keys. Several
   * processes may call the function at the same time. `hostTimeoutSeconds` limits each call: if you have very many
   * secrets, encrypt some thousands per call and return `hasMore: true` until none is left. `sealed` counts those of
   * the call; `unopened` matters in the last call only.
   */
  reseal(): Promise<ResealedPortion> | ResealedPortion;
}
