import { hash, randomBytes } from 'node:crypto';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { inBatches } from '../../../support/measure/batches.ts';
import { serve, settings } from '../../../support/measure/control.ts';
import { redirectUri, scope, users } from '../fixture.ts';

const { port, file, database, sealingKey } = settings<{
  readonly port: number;
  /** The SQLite file. */
  readonly file: string;
  /** Where PostgreSQL is; instead of the file unless it is `null`. */
  readonly database: string | null;
  readonly sealingKey: string;
}>();
const storage = database === null ? sqliteStorage({ file }) : postgresStorage({ connectionString: database });
const ostiary = await createOstiary({
  authUrl: `http://127.0.0.1:${port}`,
  storage,
  sealingKeys: [sealingKey],
  users: { find: (sub) => users.get(sub) ?? null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
});
ostiary.worker.start();

let clientId = '';

async function prepare() {
  const { client, clientSecret } = await ostiary.admin.clients.create({
    name: 'Benchmark',
    redirectUris: [redirectUri],
    allowedScopes: [scope],
  });
  if (clientSecret === null) throw new Error('the client has no secret');
  clientId = client.clientId;
  const now = Date.now();
  await inBatches([...users.keys()], (sub) =>
    storage.consents.remember({ sub, clientId, scopes: [scope], now }),
  );
  return { clientId, clientSecret };
}

async function mint(count: number): Promise<string[]> {
  const subs = [...users.keys()];
  return inBatches(Array.from({ length: count }), async (_, index) => {
    const code = randomBytes(32).toString('base64url');
    const issuedAt = Date.now();
    const issued = await storage.grants.issue({
      codeDigest: hash('sha256', code, 'buffer'),
      clientId,
      sub: subs[index % subs.length] ?? '',
      scopes: [scope],
      redirectUri,
      codeChallenge: null,
      nonce: null,
      authenticatedAt: issuedAt - 60_000,
      issuedAt,
      expiresAt: issuedAt + 600_000,
    });
    if (!issued) throw new Error('a code was refused');
    return code;
  });
}

serve(ostiary.handler, port, { prepare, mint });
