import type { ApiKeyRecord, ApiKeyState, ApiKeyStore } from '@ostiary/core/storage';
import { sqliteAudits } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { StorageUnavailableError } from './errors.ts';
import { sqliteSealedSecrets } from './sealed-secrets.ts';
import { sortedListsOn } from './sorted-lists.ts';

type ApiKeyRow = Omit<ApiKeyRecord, 'scopes' | 'allowlist' | 'requireSignature'> & {
  readonly scopes: string;
  readonly allowlist: string | null;
  readonly requireSignature: 0 | 1;
};
type ApiKeyStateRow = ApiKeyRow & { readonly partnerDisabled: 0 | 1 };

const columns = `
  id, partner, mode, api_keys.name AS name, api_keys.search_name AS searchName, start, digest, scopes, allowlist, require_signature AS requireSignature,
  sealed_signing_secret AS sealedSigningSecret, quota_id AS quotaId, api_keys.created_at AS createdAt,
  expires_at AS expiresAt, revoked_at AS revokedAt, last_used_at AS lastUsedAt
`;

// The plus signs after this text in the statements below are explained at `findToken` in grants.ts.
const stateWhere = `
  SELECT ${columns}, partners.disabled_at IS NOT NULL AS partnerDisabled
  FROM api_keys JOIN partners ON partners.slug = api_keys.partner WHERE
`;

function statementsOn(connection: Connection) {
  return {
    insert: connection.prepare<[ApiKeyRow]>(`
      INSERT INTO api_keys (
        id, partner, mode, name, search_name, start, digest, scopes, allowlist, require_signature, sealed_signing_secret,
        quota_id, created_at, expires_at, revoked_at, last_used_at
      )
      SELECT
        :id, slug, :mode, :name, :searchName, :start, :digest, :scopes, :allowlist, :requireSignature, :sealedSigningSecret,
        :quotaId, :createdAt, :expiresAt, :revokedAt, :lastUsedAt
      FROM partners WHERE slug = :partner
      ON CONFLICT DO NOTHING
    `),

    find: connection.prepare<[string], ApiKeyStateRow>(`${stateWhere} id = +?`),

    // Runs on every request of a partner: two look-ups by unique index.
    findByDigest: connection.prepare<[Uint8Array], ApiKeyStateRow>(`${stateWhere} digest = +?`),

    isLive: connection.prepare<[id: string, now: number], { 1: 1 }>(`
      SELECT 1 FROM api_keys CROSS JOIN partners ON partners.slug = api_keys.partner
      WHERE id = +? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > +?) AND disabled_at IS NULL
    `),

    list: connection.prepare<[string], ApiKeyRow>(`
      SELECT ${columns} FROM api_keys WHERE partner = ? ORDER BY created_at DESC, id
    `),

    sorted: sortedListsOn<ApiKeyRow>(connection, { columns, table: 'api_keys', id: 'id' }),

    startingWith: connection.prepare<[{ from: string; to: string; limit: number }], ApiKeyRow>(`
      SELECT ${columns} FROM api_keys WHERE start >= :from AND start < :to ORDER BY start, id LIMIT :limit
    `),

    revoke: connection.prepare<[{ id: string; now: number }]>(`
      UPDATE api_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL
    `),

    end: connection.prepare<[{ id: string; endsAt: number; now: number }]>(`
      UPDATE api_keys SET expires_at = min(coalesce(expires_at, :endsAt), :endsAt)
      WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
    `),

    touch: connection.prepare<[{ id: string; now: number }]>(`
      UPDATE api_keys SET last_used_at = :now
      WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :now)
    `),
  };
}

export function sqliteApiKeys(database: Database): ApiKeyStore {
  const audits = sqliteAudits(database);
  const sql = database.prepare(statementsOn);

  return {
    async insert(key, audit) {
      const row = rowOf(key);
      return audits.change(audit, () => sql().insert.run(row).changes > 0);
    },

    find: (id) => database.find(() => sql().find.get(id), stateOf),

    findByDigest: (digest) => database.find(() => sql().findByDigest.get(digest), stateOf),

    isLive: (id, now) => database.read(() => sql().isLive.get(id, now) !== undefined),

    list: (partner) => database.read(() => sql().list.all(partner).map(apiKeyOf)),

    sorted: (page) => database.read(() => sql().sorted.page(page, {}).map(apiKeyOf)),

    count: (limit) => database.read(() => sql().sorted.count(limit, {})),

    startingWith: (text, limit) =>
      database.read(() =>
        sql()
          .startingWith.all({ from: text, to: `${text}\u{10ffff}`, limit })
          .map(apiKeyOf),
      ),

    async revoke(id, now, audit) {
      return audits.change(audit, () => sql().revoke.run({ id, now }).changes > 0);
    },

    async roll({ id, successor, endsAt, now, audit }) {
      const row = rowOf(successor);
      return audits.change(audit, () => {
        if (sql().end.run({ id, endsAt, now }).changes === 0) return false;
        // Throw rather than return, so that the rollback keeps the old key valid.
        if (sql().insert.run(row).changes === 0)
          throw new StorageUnavailableError('the successor cannot be stored');
        return true;
      });
    },

    async touch(id, now) {
      await database.write(() => sql().touch.run({ id, now }));
    },

    ...sqliteSealedSecrets(database, { table: 'api_keys', column: 'sealed_signing_secret' }),
  };
}

function rowOf(key: ApiKeyRecord): ApiKeyRow {
  return {
    ...key,
    digest: Buffer.from(key.digest),
    scopes: JSON.stringify(key.scopes),
    allowlist: key.allowlist === null ? null : JSON.stringify(key.allowlist),
    requireSignature: key.requireSignature ? 1 : 0,
  };
}

function apiKeyOf(row: ApiKeyRow): ApiKeyRecord {
  return {
    ...row,
    scopes: JSON.parse(row.scopes),
    allowlist: row.allowlist === null ? null : JSON.parse(row.allowlist),
    requireSignature: row.requireSignature === 1,
  };
}

function stateOf(row: ApiKeyStateRow): ApiKeyState {
  return { ...apiKeyOf(row), partnerDisabled: row.partnerDisabled === 1 };
}
