// openauth on PostgreSQL. It has neither client secrets nor ID tokens: an exchange returns an access token,
// which is a JWT signed with ES256, and a refresh token. It has no userinfo either: recipients verify the
// token with openauth's client, as here.
import { randomUUID } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import { issuer } from '@openauthjs/openauth';
import { createClient } from '@openauthjs/openauth/client';
import { joinKey, type StorageAdapter, splitKey } from '@openauthjs/openauth/storage/storage';
import { createSubjects } from '@openauthjs/openauth/subject';
import { Pool } from 'pg';
import { z } from 'zod';
import { users } from '../../../support/measure/directory.ts';
import { serve, settings } from '../../../support/processes/control.ts';
import { eachOf } from '../../../support/proof.ts';
import { type ClientCredentials, claims, paths, redirectUri } from '../fixture.ts';

const { port, database } = settings<{ readonly port: number; readonly database: string }>();
const client: ClientCredentials = {
  ...{ clientId: 'bench-client', clientSecret: '' },
  unusual: { token: '/token', signed: 'access_token', algorithm: 'ES256' },
};
const pool = new Pool({ connectionString: database, max: 10 });
await pool.query(
  'CREATE TABLE entries (key text COLLATE "C" PRIMARY KEY, value json NOT NULL, expires timestamptz)',
);
const live = '(expires IS NULL OR expires > now())';
const texts = {
  get: `SELECT value FROM entries WHERE key = $1 AND ${live}`,
  set: `INSERT INTO entries VALUES ($1, $2, $3)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
  remove: 'DELETE FROM entries WHERE key = $1',
  scan: `SELECT key, value FROM entries WHERE starts_with(key, $1) AND ${live}`,
};
const query = async (name: keyof typeof texts, ...values: unknown[]) =>
  (await pool.query({ name, text: texts[name], values })).rows;

/** Storage for openauth with one prepared statement for each call. */
const storage: StorageAdapter = {
  get: async (key) => (await query('get', joinKey(key)))[0]?.value,
  async set(key, value, expiry) {
    await query('set', joinKey(key), JSON.stringify(value), expiry ?? null);
  },
  async remove(key) {
    await query('remove', joinKey(key));
  },
  async *scan(prefix) {
    for (const { key, value } of await query('scan', joinKey([...prefix, '']))) yield [splitKey(key), value];
  },
};

const subjects = createSubjects({ user: z.record(z.enum(claims), z.string()) });
const app = issuer({ providers: {}, storage, subjects, success: async () => new Response() });
const verifier = createClient({ clientID: client.clientId, issuer: `http://127.0.0.1:${port}` });
app.get(paths.userinfo, async (context) => {
  const token = context.req.header('authorization')?.replace('Bearer ', '') ?? '';
  const verified = await verifier.verify(subjects, token);
  return verified.err ? context.body(null, 401) : context.json(verified.subject.properties);
});

/**
 * Writes the rows that openauth itself writes before a redirect with a code. The timed exchange therefore
 * finds the same rows.
 */
async function mint(count: number): Promise<string[]> {
  const expiry = new Date(Date.now() + 600_000);
  return eachOf(Array.from({ length: count }), 64, async (_, index) => {
    const code = randomUUID();
    const user = users[index % users.length];
    const properties = Object.fromEntries(claims.map((claim) => [claim, user?.[claim]]));
    const grant = {
      ...{ type: 'user', properties, subject: `user:${user?.sub}`, redirectURI: redirectUri },
      ...{ clientID: client.clientId, ttl: { access: 3600, refresh: 24 * 3600 } },
    };
    await storage.set(['oauth:code', code], grant, expiry);
    return code;
  });
}

// openauth prints every request, and the other servers print nothing.
console.log = () => undefined;
await serve(getRequestListener(app.fetch), { prepare: () => client, mint }, port);
