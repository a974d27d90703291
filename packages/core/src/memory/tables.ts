import type { ClientRecord } from '../ports/clients.ts';
import type { ConsentRecord, GrantRecord, GrantState, NewAccessToken } from '../ports/grants.ts';
import type { SigningKeyRecord } from '../ports/signing-keys.ts';

/** A token as it is kept, with the key of its grant. */
export interface TokenRow extends NewAccessToken {
  readonly codeKey: string;
  readonly revokedAt: number | null;
}

/** A payload is kept as JSON text, so that nobody can change it through a reference. */
export interface InteractionRow {
  readonly payload: string;
  readonly expiresAt: number;
}

/** A job as it is kept. `claimId` and `leaseEndsAt` are set together. */
export interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  readonly dueAt: number;
  readonly attempt: number;
  readonly claimId: string | null;
  readonly leaseEndsAt: number | null;
  readonly droppedAt: number | null;
  readonly error: string | null;
}

/** Everything a memory storage holds. Rows are replaced, never written to. */
export interface Tables {
  readonly clients: Map<string, ClientRecord>;
  /** By `bytesKey(codeDigest)`. */
  readonly grants: Map<string, GrantState>;
  /** By `bytesKey(digest)`. */
  readonly tokens: Map<string, TokenRow>;
  /** The unrevoked consents, by `pairKey(sub, clientId)`. */
  readonly consents: Map<string, ConsentRecord>;
  /** By `bytesKey(digest)`. */
  readonly interactions: Map<string, InteractionRow>;
  readonly signingKeys: Map<string, SigningKeyRecord>;
  readonly jobs: Map<string, JobRow>;
}

export function emptyTables(): Tables {
  return {
    clients: new Map(),
    grants: new Map(),
    tokens: new Map(),
    consents: new Map(),
    interactions: new Map(),
    signingKeys: new Map(),
    jobs: new Map(),
  };
}

export function bytesKey(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** One string for two, without a character that could blur where one ends. */
export function pairKey(first: string, second: string): string {
  return JSON.stringify([first, second]);
}

/** Sorts strings by code unit, as the ports ask; never by locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether a client exists and is not disabled. */
export function isEnabled(tables: Tables, clientId: string): boolean {
  return tables.clients.get(clientId)?.disabledAt === null;
}

/** Revokes the grants that match and are not revoked yet; their codes and tokens end with them. */
export function revokeGrants(tables: Tables, matches: (grant: GrantRecord) => boolean, now: number): void {
  for (const [key, grant] of tables.grants) {
    if (grant.revokedAt === null && matches(grant)) tables.grants.set(key, { ...grant, revokedAt: now });
  }
}
