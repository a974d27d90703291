import type { AuditRecord } from './audit.ts';
import type { SigningAlgorithm } from './clients.ts';

/** A signing key at rest. Times are milliseconds since the Unix epoch. */
export interface SigningKeyRecord {
  /** Key id, as published in the JWK Set (RFC 7517, section 4.5). */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  /** The public JWK as JSON text. */
  readonly publicJwk: string;
  /** The private JWK, sealed, never empty; opens only with a sealing key of the host. `null` once the key has been retired. */
  readonly sealedPrivateJwk: string | null;
  readonly createdAt: number;
  /** From when on it signs. Published from its creation on, so that relying parties know it by then. */
  readonly activeFrom: number;
}

/** A signing key with its private part. */
export interface NewSigningKey extends SigningKeyRecord {
  readonly sealedPrivateJwk: string;
}

/** Keys that sign ID tokens. */
export interface SigningKeyStore {
  /** Every key, by `activeFrom`, then `kid`. */
  list(): Promise<SigningKeyRecord[]>;
  /**
   * Stores the key unless one of its algorithm exists already. `true` when it was stored. Atomic over
   * processes.
   */
  insertFirst(key: NewSigningKey): Promise<boolean>;
  insert(key: NewSigningKey, audit?: AuditRecord): Promise<void>;
  /** Replaces the sealed private part, after a change of the sealing key. A retired key stays without one. */
  reseal(kid: string, sealedPrivateJwk: string): Promise<void>;
  /** Deletes the private part of a key. The public part stays, to verify what the key has signed. */
  retire(kid: string): Promise<void>;
  remove(kid: string): Promise<void>;
}
