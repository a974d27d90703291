import type { GrantState, GrantStore, NewAccessToken } from '@ostiary/core/storage';
import { type Step, StorageUnavailableError } from './step.ts';
import { bytesKey, isEnabled, pairKey, type Tables } from './tables.ts';

export function memoryGrants(step: Step): GrantStore {
  return {
    issue: (grant) =>
      step((tables) => {
        const consent = tables.consents.get(pairKey(grant.sub, grant.clientId));
        if (consent === undefined || !isEnabled(tables, grant.clientId)) return false;
        if (!grant.scopes.every((scope) => consent.scopes.includes(scope))) return false;
        const key = bytesKey(grant.codeDigest);
        if (tables.grants.has(key)) throw new StorageUnavailableError('the code digest is taken');
        tables.grants.set(key, copy({ ...grant, consumedAt: null, revokedAt: null, failedVerifiers: 0 }));
        return true;
      }),

    find: (codeDigest) =>
      step((tables) => {
        const grant = tables.grants.get(bytesKey(codeDigest));
        return grant === undefined ? null : copy(grant);
      }),

    redeem: ({ codeDigest, token, maxFailedVerifiers, now }) =>
      step((tables) => {
        const key = bytesKey(codeDigest);
        const grant = tables.grants.get(key);
        if (grant === undefined) return 'refused';
        if (grant.consumedAt !== null) {
          tables.grants.set(key, { ...grant, revokedAt: grant.revokedAt ?? now });
          return 'replayed';
        }
        const alive = grant.revokedAt === null && grant.expiresAt > now;
        if (!alive || grant.failedVerifiers >= maxFailedVerifiers) return 'refused';
        if (!isEnabled(tables, grant.clientId)) return 'refused';
        // The token first: when it cannot be stored, the code must stay unused.
        storeToken(tables, key, token);
        tables.grants.set(key, { ...grant, consumedAt: now });
        return 'redeemed';
      }),

    recordFailedVerifier: (codeDigest) =>
      step((tables) => {
        const key = bytesKey(codeDigest);
        const grant = tables.grants.get(key);
        if (grant !== undefined) {
          tables.grants.set(key, { ...grant, failedVerifiers: grant.failedVerifiers + 1 });
        }
      }),

    revoke: (codeDigest, now) =>
      step((tables) => {
        const key = bytesKey(codeDigest);
        const grant = tables.grants.get(key);
        if (grant !== undefined) tables.grants.set(key, { ...grant, revokedAt: grant.revokedAt ?? now });
      }),

    findToken: (tokenDigest) =>
      step((tables) => {
        const token = tables.tokens.get(bytesKey(tokenDigest));
        const grant = token && tables.grants.get(token.codeKey);
        if (token === undefined || grant === undefined) return null;
        return {
          clientId: grant.clientId,
          sub: grant.sub,
          scopes: [...grant.scopes],
          expiresAt: token.expiresAt,
          revoked: token.revokedAt !== null || grant.revokedAt !== null,
        };
      }),

    revokeToken: (tokenDigest, now) =>
      step((tables) => {
        const key = bytesKey(tokenDigest);
        const token = tables.tokens.get(key);
        const grant = token && tables.grants.get(token.codeKey);
        if (token === undefined || grant === undefined) return null;
        tables.tokens.set(key, { ...token, revokedAt: token.revokedAt ?? now });
        return { clientId: grant.clientId };
      }),
  };
}

function storeToken(tables: Tables, codeKey: string, token: NewAccessToken): void {
  const key = bytesKey(token.digest);
  if (tables.tokens.has(key)) throw new StorageUnavailableError('the token digest is taken');
  const { issuedAt, expiresAt } = token;
  tables.tokens.set(key, {
    digest: Uint8Array.from(token.digest),
    issuedAt,
    expiresAt,
    codeKey,
    revokedAt: null,
  });
}

function copy(grant: GrantState): GrantState {
  return { ...grant, codeDigest: Uint8Array.from(grant.codeDigest), scopes: [...grant.scopes] };
}
