/** Numbers of secrets that were encrypted with a previous key, by result. */
export interface Resealed {
  /** Number of secrets that are now encrypted with the first key. */
  readonly sealed: number;
  /** Number of secrets that no key can decrypt. They are unchanged. */
  readonly unopened: number;
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
   * processes may call the function at the same time.
   */
  reseal(): Promise<Resealed> | Resealed;
}
