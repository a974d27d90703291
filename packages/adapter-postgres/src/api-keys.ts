import type { ApiKeyRecord, ApiKeyState, ApiKeyStore } from '@ostiary/core/storage';
import { postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { StorageUnavailableError } from './errors.ts';
import { postgresSealedSecrets } from './sealed-secrets.ts';
import { postgresSortedLists } from './sorted-lists.ts';
import { lookup, statement } from './statement.ts';

const columns = `
  id, partner, mode, api_keys.name AS name, api_keys.search_name AS "searchName", start, digest, scopes, allowlist, require_signature AS "requireSignature",
  sealed_signing_secret AS "sealedSigningSecret", quota_id AS "quotaId", api_keys.created_at AS "createdAt",
  expires_at AS "expiresAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
`;

function statementsIn(schema: string) {
  return {
    insert: statement<ApiKeyRecord>(`
      INSERT INTO ${schema}.api_keys (
        id, partner, mode, name, search_name, start, digest, scopes, allowlist, require_signature, sealed_signing_secret,
        quota_id, created_at, expires_at, revoked_at, last_used_at
      )
      SELECT
        :id, slug, :mode, :name, :searchName, :start, :digest, :scopes, :allowlist, :requireSignature, :sealedSigningSecret,
        :quotaId, :createdAt, :expiresAt, :revokedAt, :lastUsedAt
      FROM ${schema}.partners WHERE slug = :partner
      ON CONFLICT DO NOTHING
    `),

    find: statement<{ id: string }, ApiKeyState>(`
      SELECT ${columns}, partners.disabled_at IS NOT NULL AS "partnerDisabled"
      FROM ${schema}.api_keys JOIN ${schema}.partners ON partners.slug = api_keys.partner
      WHERE id = :id
    `),

    // Runs on every request of a partner: two look-ups by unique index.
    findByDigest: lookup<{ digest: Uint8Array }, ApiKeyState>(
      { digest: 'bytea' },
      `
      SELECT ${columns}, partners.disabled_at IS NOT NULL AS "partnerDisabled"
      FROM ${schema}.api_keys JOIN ${schema}.partners ON partners.slug = api_keys.partner
      WHERE digest = :digest
    `,
    ),

    isLive: lookup<{ id: string; now: number }, unknown>(
      { id: 'text', now: 'bigint' },
      `
      SELECT 1 FROM ${schema}.api_keys JOIN ${schema}.partners ON partners.slug = api_keys.partner
      WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now) AND disabled_at IS NULL
    `,
    ),

    list: statement<{ partner: string }, ApiKeyRecord>(`
      SELECT ${columns} FROM ${schema}.api_keys WHERE partner = :partner ORDER BY created_at DESC, id
    `),

    startingWith: statement<{ from: string; to: string; limit: number }, ApiKeyRecord>(`
      SELECT ${columns} FROM ${schema}.api_keys
      WHERE start >= :from AND start < :to ORDER BY start, id LIMIT :limit
    `),

    revoke: statement<{ id: string; now: number }>(`
      UPDATE ${schema}.api_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL
    `),

    end: statement<{ id: string; endsAt: number; now: number }>(`
      UPDATE ${schema}.api_keys SET expires_at = least(expires_at, :endsAt)
      WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
    `),

    touch: statement<{ id: string; now: number }>(`
      UPDATE ${schema}.api_keys SET last_used_at = :now
      WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :now)
    `),
  };
}

export function postgresApiKeys(database: Database): ApiKeyStore {
  const audits = postgresAudits(database);
  const sql = statementsIn(database.schema);
  const sorted = postgresSortedLists<ApiKeyRecord>(database, { columns, table: 'api_keys', id: 'id' });

  return {
    insert: (key, audit) => audits.changes(audit, sql.insert, copyOf(key)),

    find: (id) => database.get(sql.find, { id }),

    findByDigest: (digest) => database.get(sql.findByDigest, { digest: Buffer.from(digest) }),

    isLive: async (id, now) => (await database.get(sql.isLive, { id, now })) !== null,

    list: (partner) => database.all(sql.list, { partner }),

    sorted: (page) => sorted.page(page, {}),

    count: (limit) => sorted.count(limit, {}),

    startingWith: (text, limit) =>
      database.all(sql.startingWith, { from: text, to: `${text}\u{10ffff}`, limit }),

    revoke: (id, now, audit) => audits.changes(audit, sql.revoke, { id, now }),

    async roll({ id, successor, endsAt, now, audit }) {
      const row = copyOf(successor);
      return audits.write(audit, async (connection) => {
        if ((await sql.end.run(connection, { id, endsAt, now })) === 0) return false;
        // Throw rather than return, so that the rollback keeps the old key valid.
        if ((await sql.insert.run(connection, row)) === 0)
          throw new StorageUnavailableError('the successor cannot be stored');
        return true;
      });
    },

    async touch(id, now) {
      await database.changes(sql.touch, { id, now });
    },

    ...postgresSealedSecrets(database, { table: 'api_keys', column: 'sealed_signing_secret' }),
  };
}

/**
 * Copies an API key's record, because the caller may change the object while the statement waits for a
 * connection.
 */
function copyOf(key: ApiKeyRecord): ApiKeyRecord {
  const allowlist = key.allowlist === null ? null : [...key.allowlist];
  return { ...key, digest: Buffer.from(key.digest), scopes: [...key.scopes], allowlist };
}
