import { hash, randomBytes } from 'node:crypto';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { serve, settings } from '../../shared/control.ts';
import { redirectUri, scope, users } from '../fixture.ts';

/** Parameters of Ostiary. */
export interface OstiarySettings {
  readonly port: number;
  /** The SQLite file. */
  readonly file: string;
  readonly sealingKey: string;
}

const { port, file, sealingKey } = settings<OstiarySettings>();
const storage = sqliteStorage({ file });
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
  await Promise.all(
    [...users.keys()].map((sub) => storage.consents.remember({ sub, clientId, scopes: [scope], now })),
  );
  return { clientId, clientSecret };
}

async function mint(count: number): Promise<string[]> {
  const subs = [...users.keys()];
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
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
    }),
  );
}

serve(ostiary.handler, port, { prepare, mint });
