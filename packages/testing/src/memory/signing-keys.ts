import type { AuditRecord, SigningKeyRecord, SigningKeyStore } from '@ostiary/core/storage';
import { note } from './audit.ts';
import { type Step, StorageUnavailableError } from './step.ts';
import { byCodeUnit, type Tables } from './tables.ts';

export function memorySigningKeys(step: Step): SigningKeyStore {
  return {
    list: () =>
      step((tables) =>
        [...tables.signingKeys.values()]
          .sort((a, b) => a.activeFrom - b.activeFrom || byCodeUnit(a.kid, b.kid))
          .map((key) => ({ ...key })),
      ),

    insertFirst: (key) =>
      step((tables) => {
        if ([...tables.signingKeys.values()].some(({ alg }) => alg === key.alg)) return false;
        store(tables, key);
        return true;
      }),

    insert: (key, audit) => step((tables) => store(tables, key, audit)),

    reseal: (kid, sealedPrivateJwk) =>
      step((tables) => {
        const key = tables.signingKeys.get(kid);
        if (key !== undefined) tables.signingKeys.set(kid, { ...key, sealedPrivateJwk });
      }),

    remove: (kid) =>
      step((tables) => {
        tables.signingKeys.delete(kid);
      }),
  };
}

function store(tables: Tables, key: SigningKeyRecord, audit?: AuditRecord): void {
  if (tables.signingKeys.has(key.kid)) throw new StorageUnavailableError('the key id is taken');
  note(tables, audit);
  tables.signingKeys.set(key.kid, { ...key });
}
