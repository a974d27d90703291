import type {
  ApiKeyRecord,
  ChainedAct,
  ClientRecord,
  ConsentRecord,
  DeliveryRecord,
  EventRecord,
  GrantRecord,
  GrantState,
  NewAccessToken,
  Owner,
  PartnerRecord,
  SigningKeyRecord,
  StoredAnswer,
  TransferRecord,
  WebhookEndpointRecord,
} from '@ostiary/core/storage';

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
  readonly error: string | null;
}

/** What is kept of a request with an `Idempotency-Key`. */
export interface IdempotencyRow {
  /** `bytesKey(fingerprint)`. */
  readonly fingerprint: string;
  readonly answer: StoredAnswer;
  readonly expiresAt: number;
}

/** A transfer as it is kept: its metadata is JSON text. */
export interface TransferRow extends Omit<TransferRecord, 'metadata'> {
  readonly metadata: string | null;
}

/** A delivery as it is kept. */
export interface DeliveryRow extends Omit<DeliveryRecord, 'nextAttemptAt'> {
  /** When the next attempt is due, or the last one was. */
  readonly dueAt: number;
  /** From when on it can be claimed: `dueAt`, or the end of the lease while somebody holds it. */
  readonly readyAt: number;
  readonly claimId: string | null;
  /** When its status became final. */
  readonly endedAt: number | null;
}

/** An administrative act as it is kept: its details are JSON text, and its digest is part of the chain. */
export interface AuditRow extends Omit<ChainedAct, 'details'> {
  readonly details: string;
}

/** A window in which requests are counted. */
export interface WindowRow {
  readonly count: number;
  readonly endsAt: number;
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
  readonly partners: Map<string, PartnerRecord>;
  readonly apiKeys: Map<string, ApiKeyRecord>;
  /** Ids of keys, by `bytesKey(digest)`. */
  readonly apiKeyIds: Map<string, string>;
  /** By `ownedKey(owner, key)`. */
  readonly idempotency: Map<string, IdempotencyRow>;
  readonly transfers: Map<string, TransferRow>;
  /** Ids of transfers, by `ownedKey(owner, reference)`. */
  readonly references: Map<string, string>;
  readonly webhooks: Map<string, WebhookEndpointRecord>;
  /** The last sequence number, by `pairKey(partner, mode)`. */
  readonly sequences: Map<string, number>;
  /** In the order of their sequences. */
  readonly events: Map<string, EventRecord>;
  /** In the order of their creation. */
  readonly deliveries: Map<string, DeliveryRow>;
  /** When something of an endpoint was claimed last. */
  readonly servedAt: Map<string, number>;
  readonly jobs: Map<string, JobRow>;
  /** By bucket. */
  readonly rateLimits: Map<string, WindowRow>;
  /** In the order of the chain. */
  readonly audit: Map<string, AuditRow>;
}

export function emptyTables(): Tables {
  return {
    clients: new Map(),
    grants: new Map(),
    tokens: new Map(),
    consents: new Map(),
    interactions: new Map(),
    signingKeys: new Map(),
    partners: new Map(),
    apiKeys: new Map(),
    apiKeyIds: new Map(),
    idempotency: new Map(),
    transfers: new Map(),
    references: new Map(),
    webhooks: new Map(),
    sequences: new Map(),
    events: new Map(),
    deliveries: new Map(),
    servedAt: new Map(),
    jobs: new Map(),
    rateLimits: new Map(),
    audit: new Map(),
  };
}

export function bytesKey(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** One string for two, without a character that could blur where one ends. */
export function pairKey(first: string, second: string): string {
  return JSON.stringify([first, second]);
}

/** One string for what a partner names in a mode. */
export function ownedKey({ partner, mode }: Owner, name: string): string {
  return JSON.stringify([partner, mode, name]);
}

/** Whether a row belongs to this partner and mode. */
export function isOwned(row: Owner, { partner, mode }: Owner): boolean {
  return row.partner === partner && row.mode === mode;
}

/** Sorts strings by code unit, as the ports ask; never by locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether there is a partner of this name, and it is disabled. */
export function isPartnerDisabled({ partners }: Tables, slug: string | null): boolean {
  const partner = slug === null ? undefined : partners.get(slug);
  return partner !== undefined && partner.disabledAt !== null;
}

/** Whether a client exists, and neither it nor its partner is disabled. */
export function isEnabled(tables: Tables, clientId: string): boolean {
  const client = tables.clients.get(clientId);
  return client?.disabledAt === null && !isPartnerDisabled(tables, client.partner);
}

/** Revokes the grants that match and are not revoked yet; their codes and tokens end with them. */
export function revokeGrants(tables: Tables, matches: (grant: GrantRecord) => boolean, now: number): void {
  for (const [key, grant] of tables.grants) {
    if (grant.revokedAt === null && matches(grant)) tables.grants.set(key, { ...grant, revokedAt: now });
  }
}
