import type { UserDirectory, UserRecord } from '@ostiary/core';
import type { Database } from '../database/database.ts';
import { formatMoney } from '../ledger/money.ts';
import { createPostings } from '../ledger/postings.ts';

interface Row {
  readonly sub: string;
  readonly kid: string;
  readonly handle: string;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly role: string;
  readonly country: string;
  readonly kyc_tier: 0 | 1 | 2 | 3;
  readonly kyc_status: 'approved' | 'pending' | 'rejected';
  readonly trust_score: number;
  readonly trust_tier: string;
  readonly created_at: number;
}

/** Balances and credentials are never shown to partners. */
const forPartners: ReadonlySet<string> = new Set(['openid', 'profile', 'kyc']);

const iso = (time: number): string => new Date(time).toISOString();

/** The directory that Ostiary asks: what a user is, limited to what the approved scopes show. */
export function createDirectory(database: Database, now: () => number): UserDirectory {
  const { connection } = database;
  const columns =
    'sub, kid, handle, name, avatar_url, role, country, kyc_tier, kyc_status, trust_score, trust_tier, created_at';
  // Who is blocked is nobody, whoever asks.
  const by = (key: 'sub' | 'kid' | 'phone') =>
    connection.prepare<[string], Row>(
      `SELECT ${columns} FROM app_users WHERE ${key} = ? AND blocked_at IS NULL`,
    );
  const [bySub, byKid, byPhone] = [by('sub'), by('kid'), by('phone')];
  const postings = createPostings(connection);
  const credentials = connection.prepare<
    [string, number],
    { id: string; type: string; issued_at: number; expires_at: number | null }
  >(
    `SELECT id, type, issued_at, expires_at FROM app_credentials
     WHERE sub = ? AND coalesce(expires_at > ?, TRUE) ORDER BY issued_at, id`,
  );

  function record(row: Row | undefined, scopes: ReadonlySet<string>): UserRecord | null {
    if (row === undefined) return null;
    const wallet = { kind: 'user', sub: row.sub } as const;
    return {
      sub: row.sub,
      kid: row.kid,
      role: row.role,
      country: row.country,
      createdAt: iso(row.created_at),
      name: row.name,
      handle: row.handle,
      avatarUrl: row.avatar_url,
      kycTier: row.kyc_tier,
      kycStatus: row.kyc_status,
      ...(scopes.has('wallet:balance') && {
        htgBalance: formatMoney(postings.balance(wallet, 'HTG')),
        usdBalance: formatMoney(postings.balance(wallet, 'USD')),
      }),
      trustScore: row.trust_score,
      trustTier: row.trust_tier,
      ...(scopes.has('identity') && {
        activeCredentials: credentials.all(row.sub, now()).map(({ id, type, issued_at, expires_at }) => ({
          id,
          type,
          issuedAt: iso(issued_at),
          expiresAt: expires_at === null ? null : iso(expires_at),
        })),
      }),
    };
  }

  return {
    find: (sub, scopes) => database.read(() => record(bySub.get(sub), scopes)),
    findByKid: (kid) => database.read(() => record(byKid.get(kid), forPartners)),
    findByPhone: (phone) => database.read(() => record(byPhone.get(phone), forPartners)),
  };
}
