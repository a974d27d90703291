import type { ApiKeyRecord, ApiKeyState, ApiKeyStore, AuditRecord } from '@ostiary/core/storage';
import { note } from './audit.ts';
import { memorySealedSecrets } from './sealed-secrets.ts';
import { type Step, StorageUnavailableError } from './step.ts';
import { byCodeUnit, bytesKey, type Tables } from './tables.ts';

export function memoryApiKeys(step: Step): ApiKeyStore {
  return {
    insert: (key, audit) => step((tables) => store(tables, key, audit)),

    find: (id) => step((tables) => state(tables, id)),

    findByDigest: (digest) => step((tables) => state(tables, tables.apiKeyIds.get(bytesKey(digest)))),

    isLive: (id, now) => step((tables) => isLiveKey(tables, id, now)),

    list: (partner) =>
      step((tables) =>
        [...tables.apiKeys.values()]
          .filter((key) => key.partner === partner)
          .sort((a, b) => b.createdAt - a.createdAt || byCodeUnit(a.id, b.id))
          .map(copy),
      ),

    revoke: (id, now, audit) =>
      step((tables) => {
        const key = tables.apiKeys.get(id);
        if (key === undefined) return false;
        note(tables, audit);
        tables.apiKeys.set(id, { ...key, revokedAt: key.revokedAt ?? now });
        return true;
      }),

    roll: ({ id, successor, endsAt, now, audit }) =>
      step((tables) => {
        const key = tables.apiKeys.get(id);
        if (key === undefined || key.revokedAt !== null) return false;
        const expiresAt = key.expiresAt ?? Number.POSITIVE_INFINITY;
        if (expiresAt <= now) return false;
        // The successor first: when it cannot be stored, the old key must go on.
        if (!store(tables, successor, audit))
          throw new StorageUnavailableError('the successor cannot be stored');
        tables.apiKeys.set(id, { ...key, expiresAt: Math.min(expiresAt, endsAt) });
        return true;
      }),

    touch: (id, now) =>
      step((tables) => {
        const key = tables.apiKeys.get(id);
        if (key === undefined || (key.lastUsedAt !== null && key.lastUsedAt >= now)) return;
        tables.apiKeys.set(id, { ...key, lastUsedAt: now });
      }),

    ...memorySealedSecrets(step, {
      rowsOf: ({ apiKeys }) => apiKeys,
      sealedOf: (key) => key.sealedSigningSecret,
      withSealed: (key, sealedSigningSecret) => ({ ...key, sealedSigningSecret }),
    }),
  };
}

function store(tables: Tables, key: ApiKeyRecord, audit?: AuditRecord): boolean {
  const { partners, apiKeys, apiKeyIds } = tables;
  const digest = bytesKey(key.digest);
  if (!partners.has(key.partner) || apiKeys.has(key.id) || apiKeyIds.has(digest)) return false;
  note(tables, audit);
  apiKeys.set(key.id, copy(key));
  apiKeyIds.set(digest, key.id);
  return true;
}

function state({ partners, apiKeys }: Tables, id: string | undefined): ApiKeyState | null {
  const key = id === undefined ? undefined : apiKeys.get(id);
  if (key === undefined) return null;
  return { ...copy(key), partnerDisabled: partners.get(key.partner)?.disabledAt !== null };
}

function copy(key: ApiKeyRecord): ApiKeyRecord {
  return {
    ...key,
    digest: Uint8Array.from(key.digest),
    scopes: [...key.scopes],
    allowlist: key.allowlist === null ? null : [...key.allowlist],
  };
}

/** Neither revoked nor ended, and its partner not disabled. */
export function isLiveKey(tables: Tables, id: string, now: number): boolean {
  const key = state(tables, id);
  if (key === null || key.revokedAt !== null || key.partnerDisabled) return false;
  return key.expiresAt === null || key.expiresAt > now;
}
