import { randomBytes } from 'node:crypto';
import type { NewSigningKey, SigningKeyRecord, SigningKeyStore } from '@ostiary/core/storage';

/** Sealing key that all test kits of this process share, so that they can share signing keys. */
export const sealingKey: Uint8Array = randomBytes(32);

let known: readonly NewSigningKey[] = [];

const hasPrivatePart = (key: SigningKeyRecord): key is NewSigningKey => key.sealedPrivateJwk !== null;

/**
 * Stores signing keys that an earlier test kit of this process created, because creating an RSA key takes
 * longer than everything else at start.
 */
export async function lendSigningKeys(store: SigningKeyStore, now: number): Promise<void> {
  for (const record of known) await store.insertFirst({ ...record, createdAt: now, activeFrom: now });
}

/** Keeps the signing keys of a started test kit for later kits. */
export async function keepSigningKeys(store: SigningKeyStore): Promise<void> {
  if (known.length === 0) known = (await store.list()).filter(hasPrivatePart);
}
