import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type {
  ClientRecord,
  GrantRecord,
  NewAccessToken,
  NewRefreshToken,
  NewSigningKey,
  RefreshResult,
  Storage,
} from '@ostiary/core/storage';

/** Fixed current time of the test cases, in milliseconds since the Unix epoch: a time in January 2027. */
export const now = 1_800_000_000_123;
export const minute = 60_000;
export const hour = 60 * minute;

/** Returns 32 bytes that depend on the label alone. */
export function digestOf(label: string): Uint8Array {
  return createHash('sha256').update(label).digest();
}

export function sampleClient(changes: Partial<ClientRecord> = {}): ClientRecord {
  return {
    clientId: 'client-1',
    name: 'Sample shop',
    searchName: 'sample shop',
    secrets: [
      { digest: digestOf('secret 1'), createdAt: now - hour, expiresAt: now + hour },
      { digest: digestOf('secret 2'), createdAt: now, expiresAt: null },
    ],
    redirectUris: ['https://shop.example/callback', 'http://127.0.0.1:4000/callback/'],
    allowedScopes: ['openid', 'profile', 'kyc'],
    requirePkce: true,
    requireSecret: false,
    firstParty: false,
    idTokenAlg: 'RS256',
    partner: null,
    createdAt: now - hour,
    updatedAt: now,
    disabledAt: null,
    version: 1,
    ...changes,
  };
}

export function sampleGrant(label: string, changes: Partial<GrantRecord> = {}): GrantRecord {
  return {
    codeDigest: digestOf(`code ${label}`),
    clientId: 'client-1',
    sub: 'user-1',
    scopes: ['openid', 'profile'],
    resources: null,
    redirectUri: 'https://shop.example/callback',
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    nonce: 'n-0S6_WzA2Mj',
    dpopJkt: null,
    authenticatedAt: now - minute,
    sid: 'a session',
    idTokenDetails: null,
    issuedAt: now,
    expiresAt: now + 10 * minute,
    ...changes,
  };
}

export function sampleToken(label: string, changes: Partial<NewAccessToken> = {}): NewAccessToken {
  return {
    digest: digestOf(`token ${label}`),
    issuedAt: now,
    expiresAt: now + hour,
    scopes: null,
    resources: null,
    dpopJkt: null,
    ...changes,
  };
}

/** Makes a refresh token. Labels that differ only in the last word give tokens of one family. */
export function sampleRefreshToken(label: string, changes: Partial<NewRefreshToken> = {}): NewRefreshToken {
  return {
    digest: digestOf(`refresh token ${label}`),
    family: digestOf(`family ${label.replace(/ [^ ]*$/, '')}`),
    expiresAt: now + 30 * 24 * hour,
    ...changes,
  };
}

export function sampleKey(kid: string, changes: Partial<NewSigningKey> = {}): NewSigningKey {
  return {
    kid,
    alg: 'RS256',
    publicJwk: JSON.stringify({ kty: 'RSA', kid, n: 'AQAB', e: 'AQAB' }),
    sealedPrivateJwk: `sealed ${kid}`,
    createdAt: now,
    activeFrom: now,
    ...changes,
  };
}

/** A user and a client, with the scopes that the user approved. */
export interface Party {
  readonly sub?: string;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
}

/** Creates the client unless it exists, and stores the user's consent to the scopes. */
export async function consented(storage: Storage, party: Party = {}): Promise<void> {
  const { sub = 'user-1', clientId = 'client-1', scopes = ['openid', 'profile'] } = party;
  await storage.clients.insert(sampleClient({ clientId }));
  assert.equal(await storage.consents.remember({ sub, clientId, scopes, now }), true, 'consent is stored');
}

/** Stores a consent and a grant with its code: the state in which a client exchanges the code. */
export async function issued(
  storage: Storage,
  label: string,
  changes: Partial<GrantRecord> = {},
): Promise<GrantRecord> {
  const grant = sampleGrant(label, changes);
  await consented(storage, { ...grant, scopes: [...grant.scopes, ...(grant.resources ?? [])] });
  assert.equal(await storage.grants.issue(grant), true, 'the grant is stored');
  return grant;
}

/** Stores a consent, a grant and its access token: the state in which a client calls userinfo. */
export async function redeemed(
  storage: Storage,
  label: string,
  changes: Partial<GrantRecord> = {},
  tokenChanges: Partial<NewAccessToken> = {},
): Promise<{ readonly grant: GrantRecord; readonly token: NewAccessToken }> {
  const grant = await issued(storage, label, changes);
  const token = sampleToken(label, tokenChanges);
  assert.equal(await redeem(storage, grant, token), 'redeemed');
  return { grant, token };
}

/** Exchanges the code of a grant, by default one millisecond after it was issued. */
export function redeem(
  storage: Storage,
  grant: GrantRecord,
  token: NewAccessToken,
  at: {
    readonly now?: number;
    readonly maxFailedVerifiers?: number;
    readonly refreshToken?: NewRefreshToken;
  } = {},
): Promise<'redeemed' | 'replayed' | 'refused'> {
  return storage.grants.redeem({
    codeDigest: grant.codeDigest,
    token,
    refreshToken: at.refreshToken ?? null,
    maxFailedVerifiers: at.maxFailedVerifiers ?? 5,
    now: at.now ?? grant.issuedAt + 1,
  });
}

/**
 * Time after the first use of a refresh token during which a storage returns the same replacement again, in
 * milliseconds.
 */
export const graceMs = 30_000;

/** Stores a grant whose code was exchanged for an access token and the refresh token `${label} 1`. */
export async function connected(storage: Storage, label: string, changes: Partial<GrantRecord> = {}) {
  const grant = await issued(storage, label, changes);
  const [token, refreshToken] = [sampleToken(label), sampleRefreshToken(`${label} 1`)];
  assert.equal(await redeem(storage, grant, token, { refreshToken }), 'redeemed');
  return { grant, token };
}

/** Parameters of a refresh that differ from the defaults. */
export interface RefreshChanges {
  readonly now?: number;
  readonly scopes?: readonly string[];
  readonly resources?: readonly string[];
  /** Access token of the refresh, or its label; by default the label of the new refresh token. */
  readonly token?: string | NewAccessToken;
  readonly successor?: NewRefreshToken;
  readonly otherSuccessors?: readonly Uint8Array[];
  readonly maxAccessTokens?: number;
}

/**
 * Presents the refresh token with a label. The new refresh token and the new access token get the label
 * `next`.
 */
export function refreshWithResult(
  storage: Storage,
  label: string,
  next: string,
  at: RefreshChanges = {},
): Promise<RefreshResult> {
  const token = typeof at.token === 'object' ? at.token : sampleToken(at.token ?? next);
  const { scopes = token.scopes, resources = token.resources } = at;
  return storage.grants.refresh({
    presented: sampleRefreshToken(label),
    successor: at.successor ?? sampleRefreshToken(next),
    otherSuccessors: at.otherSuccessors ?? [],
    token: { ...token, scopes, resources },
    graceMs,
    maxAccessTokens: at.maxAccessTokens ?? 1000,
    now: at.now ?? now + minute,
  });
}

/** Presents a refresh token as {@link refreshWithResult} does, and returns only the outcome. */
export async function refresh(
  ...given: Parameters<typeof refreshWithResult>
): Promise<RefreshResult['outcome']> {
  return (await refreshWithResult(...given)).outcome;
}

/** Checks whether userinfo would accept this access token, disregarding its expiry. */
export async function isLive(storage: Storage, token: Pick<NewAccessToken, 'digest'>): Promise<boolean> {
  const state = await storage.grants.findToken(token.digest);
  return state !== null && !state.revoked;
}
