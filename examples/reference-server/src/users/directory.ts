import type { UserDirectory, UserRecord } from '@ostiary/core';
import type { Database } from '../database/database.ts';
import { formatMoney } from '../ledger/money.ts';
import { balancesOf } from '../ledger/postings.ts';

type Row = Omit<UserRecord, 'createdAt' | 'activeCredentials'> & { readonly createdAt: number };

interface CredentialRow {
  readonly id: string;
  readonly type: string;
  readonly issuedAt: number;
  readonly expiresAt: number | null;
}

/** Scopes whose fields partners may see. Balances and credentials are never shown to partners. */
const forPartners: ReadonlySet<string> = new Set(['openid', 'profile', 'kyc']);

type FindUsers = Pick<UserDirectory, 'find' | 'findByKid' | 'findByPhone'>;

const iso = (time: number): string => new Date(time).toISOString();

/** Builds the SQL query for a user. Blocked users are treated as if they did not exist. */
const findBy = (key: 'sub' | 'kid' | 'phone'): string =>
  `SELECT sub, kid, role, country, created_at AS "createdAt", name, handle, avatar_url AS "avatarUrl", phone AS "phoneNumber",
     kyc_tier AS "kycTier", kyc_status AS "kycStatus", trust_score AS "trustScore", trust_tier AS "trustTier"
   FROM app_users WHERE ${key} = :value AND blocked_at IS NULL`;

const findCredentials = `
  SELECT id, type, issued_at AS "issuedAt", expires_at AS "expiresAt" FROM app_credentials
  WHERE sub = :sub AND coalesce(expires_at > :now, TRUE) ORDER BY issued_at, id`;

/**
 * Makes the user directory for Ostiary. The directory reads balances and credentials only if the approved
 * scopes reveal them. Ostiary selects the other fields by scope.
 */
export function createDirectory(database: Database, now: () => number): Required<FindUsers> {
  const [bySub, byKid, byPhone] = [findBy('sub'), findBy('kid'), findBy('phone')];

  async function balances(sub: string): Promise<Pick<UserRecord, 'htgBalance' | 'usdBalance'>> {
    const { HTG, USD } = await balancesOf(database, { kind: 'user', sub });
    return { htgBalance: formatMoney(HTG), usdBalance: formatMoney(USD) };
  }

  async function activeCredentials(sub: string): Promise<Pick<UserRecord, 'activeCredentials'>> {
    const rows = await database.all<CredentialRow>(findCredentials, { sub, now: now() });
    return {
      activeCredentials: rows.map(({ issuedAt, expiresAt, ...rest }) => ({
        ...rest,
        issuedAt: iso(issuedAt),
        expiresAt: expiresAt === null ? null : iso(expiresAt),
      })),
    };
  }

  async function find(sql: string, value: string, scopes: ReadonlySet<string>): Promise<UserRecord | null> {
    const row = await database.get<Row>(sql, { value });
    if (row === undefined) return null;
    return {
      ...row,
      createdAt: iso(row.createdAt),
      ...(scopes.has('wallet:balance') && (await balances(row.sub))),
      ...(scopes.has('identity') && (await activeCredentials(row.sub))),
    };
  }

  return {
    find: (sub, scopes) => find(bySub, sub, scopes),
    findByKid: (kid) => find(byKid, kid, forPartners),
    findByPhone: (phone) => find(byPhone, phone, forPartners),
  };
}
