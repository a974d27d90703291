import { randomBytes } from 'node:crypto';
import type { NewSigningKey, SigningKeyRecord, SigningKeyStore } from '@ostiary/core/storage';

/** Sealing keys of the kits of this process, so that they can share signing keys. */
export const sealingKey: Uint8Array = randomBytes(32);

let known: readonly NewSigningKey[] = [];

const hasPrivatePart = (key: SigningKeyRecord): key is NewSigningKey => key.sealedPrivateJwk !== null;

/** Making an RSA key takes longer than everything else at the start: the first kit of a process makes it for all. */
export async function lendSigningKeys(store: SigningKeyStore, now: number): Promise<void> {
  for (const record of known) await store.insertFirst({ ...record, createdAt: now, activeFrom: now });
}

/** Remembers the keys of a kit that has started. */
export async function keepSigningKeys(store: SigningKeyStore): Promise<void> {
  if (known.length === 0) known = (await store.list()).filter(hasPrivatePart);
}
