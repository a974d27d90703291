import type { AuditRecord } from './audit.ts';
import type { SigningAlgorithm } from './clients.ts';
import type { NewJob } from './queue.ts';

/** A signing key as it is stored. Times are milliseconds since the Unix epoch. */
export interface SigningKeyRecord {
  /** Key id, as published in the JWK Set (RFC 7517, section 4.5). */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  /** The public JWK as JSON text. */
  readonly publicJwk: string;
  /**
   * The private JWK, encrypted with a sealing key, never empty; `null` once the private part was deleted.
   */
  readonly sealedPrivateJwk: string | null;
  readonly createdAt: number;
  /**
   * Time from which the key signs. The key is published from its creation on, so that relying parties know it
   * before its first use.
   */
  readonly activeFrom: number;
}

/** A new signing key, whose private part is present. */
export interface NewSigningKey extends SigningKeyRecord {
  readonly sealedPrivateJwk: string;
}

/** Keys that sign ID tokens. */
export interface SigningKeyStore {
  /** Lists all signing keys, by `activeFrom`, then `kid`. */
  list(): Promise<SigningKeyRecord[]>;
  /**
   * Stores a signing key unless a key of the same algorithm exists. Returns whether it was stored. Atomic
   * over all processes.
   */
  insertFirst(key: NewSigningKey): Promise<boolean>;
  /** Stores the signing key, and enqueues `jobs` as `queue.enqueue` does, in one transaction. */
  insert(key: NewSigningKey, audit?: AuditRecord, jobs?: readonly NewJob[]): Promise<void>;
  /**
   * Replaces the encrypted private key of a signing key after a change of the sealing key. A key whose
   * private part was deleted stays without it.
   */
  reseal(kid: string, sealedPrivateJwk: string): Promise<void>;
  /** Deletes the private part of a signing key. The public part stays, to verify earlier signatures. */
  retire(kid: string): Promise<void>;
  remove(kid: string): Promise<void>;
}
