import type { UserDirectory, UserRecord } from '@ostiary/core';
import type { Database } from '../database/database.ts';
import { formatMoney } from '../ledger/money.ts';
import { balancesOf } from '../ledger/postings.ts';

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

type FindUsers = Pick<UserDirectory, 'find' | 'findByKid' | 'findByPhone'>;

const iso = (time: number): string => new Date(time).toISOString();

/** Who is blocked is nobody, whoever asks. */
const findBy = (key: 'sub' | 'kid' | 'phone'): string =>
  `SELECT sub, kid, handle, name, avatar_url, role, country, kyc_tier, kyc_status, trust_score, trust_tier, created_at
   FROM app_users WHERE ${key} = :value AND blocked_at IS NULL`;

const findCredentials = `
  SELECT id, type, issued_at, expires_at FROM app_credentials
  WHERE sub = :sub AND coalesce(expires_at > :now, TRUE) ORDER BY issued_at, id`;

/** The directory that Ostiary asks: what a user is, limited to what the approved scopes show. */
export function createDirectory(database: Database, now: () => number): Required<FindUsers> {
  const [bySub, byKid, byPhone] = [findBy('sub'), findBy('kid'), findBy('phone')];

  async function balances(sub: string): Promise<Pick<UserRecord, 'htgBalance' | 'usdBalance'>> {
    const { HTG, USD } = await balancesOf(database, { kind: 'user', sub });
    return { htgBalance: formatMoney(HTG), usdBalance: formatMoney(USD) };
  }

  async function activeCredentials(sub: string): Promise<Pick<UserRecord, 'activeCredentials'>> {
    const rows = await database.all<{
      id: string;
      type: string;
      issued_at: number;
      expires_at: number | null;
    }>(findCredentials, { sub, now: now() });
    return {
      activeCredentials: rows.map(({ id, type, issued_at, expires_at }) => ({
        id,
        type,
        issuedAt: iso(issued_at),
        expiresAt: expires_at === null ? null : iso(expires_at),
      })),
    };
  }

  async function find(sql: string, value: string, scopes: ReadonlySet<string>): Promise<UserRecord | null> {
    const row = await database.get<Row>(sql, { value });
    if (row === undefined) return null;
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
      ...(scopes.has('wallet:balance') && (await balances(row.sub))),
      trustScore: row.trust_score,
      trustTier: row.trust_tier,
      ...(scopes.has('identity') && (await activeCredentials(row.sub))),
    };
  }

  return {
    find: (sub, scopes) => find(bySub, sub, scopes),
    findByKid: (kid) => find(byKid, kid, forPartners),
    findByPhone: (phone) => find(byPhone, phone, forPartners),
  };
}
