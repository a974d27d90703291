import { hash, randomBytes } from 'node:crypto';
import { users } from '../../../support/measure/directory.ts';
import { openHost } from '../../../support/measure/host.ts';
import { resident, serve } from '../../../support/processes/control.ts';
import { eachOf } from '../../../support/proof.ts';
import { redirectUri, scope } from '../fixture.ts';

const { ostiary, storage, port } = await openHost();
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
  await eachOf(users, 64, ({ sub }) => storage.consents.remember({ sub, clientId, scopes: [scope], now }));
  return { clientId, clientSecret };
}

async function mint(count: number): Promise<string[]> {
  return eachOf(Array.from({ length: count }), 64, async (_, index) => {
    const code = randomBytes(32).toString('base64url');
    const issuedAt = Date.now();
    const issued = await storage.grants.issue({
      codeDigest: hash('sha256', code, 'buffer'),
      clientId,
      sub: users[index % users.length]?.sub ?? '',
      scopes: [scope],
      resources: null,
      redirectUri,
      codeChallenge: null,
      nonce: null,
      dpopJkt: null,
      sid: 'a session',
      idTokenDetails: null,
      authenticatedAt: issuedAt - 60_000,
      issuedAt,
      expiresAt: issuedAt + 600_000,
    });
    if (!issued) throw new Error('a code was refused');
    return code;
  });
}

await serve(ostiary.handler, { prepare, mint, resident }, port);
