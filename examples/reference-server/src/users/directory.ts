import type { UserDirectory, UserRecord } from '@ostiary/core';
import type { Database } from '../database/database.ts';

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

const iso = (time: number): string => new Date(time).toISOString();

/** Minor units as a decimal with two digits. */
export function formatMoney(minor: bigint): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(3, '0');
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The directory that Ostiary asks: what a user is, limited to what the approved scopes show. */
export function createDirectory(database: Database, now: () => number): UserDirectory {
  const { connection } = database;
  const user = connection.prepare<[string], Row>(
    `SELECT sub, kid, handle, name, avatar_url, role, country, kyc_tier, kyc_status, trust_score, trust_tier, created_at
     FROM app_users WHERE sub = ? AND blocked_at IS NULL`,
  );
  // Balances may exceed what a JavaScript number holds exactly.
  const balances = connection
    .prepare<[string], { htg_minor: bigint; usd_minor: bigint }>(
      'SELECT htg_minor, usd_minor FROM app_users WHERE sub = ?',
    )
    .safeIntegers();
  const credentials = connection.prepare<
    [string, number],
    { id: string; type: string; issued_at: number; expires_at: number | null }
  >(
    `SELECT id, type, issued_at, expires_at FROM app_credentials
     WHERE sub = ? AND coalesce(expires_at > ?, TRUE) ORDER BY issued_at, id`,
  );

  function find(sub: string, scopes: ReadonlySet<string>): UserRecord | null {
    const row = user.get(sub);
    if (row === undefined) return null;
    const money = scopes.has('wallet:balance') ? balances.get(sub) : undefined;
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
      ...(money && { htgBalance: formatMoney(money.htg_minor), usdBalance: formatMoney(money.usd_minor) }),
      trustScore: row.trust_score,
      trustTier: row.trust_tier,
      ...(scopes.has('identity') && {
        activeCredentials: credentials.all(sub, now()).map(({ id, type, issued_at, expires_at }) => ({
          id,
          type,
          issuedAt: iso(issued_at),
          expiresAt: expires_at === null ? null : iso(expires_at),
        })),
      }),
    };
  }

  return { find: (sub, scopes) => database.read(() => find(sub, scopes)) };
}
