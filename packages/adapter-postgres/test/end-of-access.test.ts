import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { startProvider } from './provider.ts';
import { schemaNames, startServer, type TestServer } from './server.ts';

let server: TestServer;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

/** A provider here, and one in another process. */
async function twoProcesses() {
  const schema = nextSchema();
  const sealingKey = randomBytes(32).toString('base64url');
  const here = await startProvider({ url: server.url, schema, sealingKey });
  onTestFinished(here.stop);
  const child = fork(new URL('children/provider.ts', import.meta.url), [server.url, schema, sealingKey], {
    execArgv: ['--conditions=source'],
  });
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.send('stop');
    expect((await exited)[0]).toBe(0);
  });
  const [there] = await once(child, 'message');
  const whoami = async (origin: string, key: string) => {
    const answer = await fetch(`${origin}/v1/partner/whoami`, { headers: { 'x-api-key': key } });
    await answer.arrayBuffer();
    return answer.status;
  };
  return { schema, here, there: String(there), whoami };
}

type Processes = Awaited<ReturnType<typeof twoProcesses>>;

async function keyOf({ here }: Processes, slug: string) {
  await here.ostiary.admin.partners.create({ slug, name: slug });
  return here.ostiary.admin.apiKeys.issue({ partner: slug, mode: 'live', scopes: ['payments:read'] });
}

test('a key that is revoked, or whose partner is disabled, is refused by the next request in another process', async () => {
  const processes = await twoProcesses();
  const { here, there, whoami } = processes;
  const ways: { readonly [slug: string]: (id: string) => Promise<unknown> } = {
    revoked: (id) => here.ostiary.admin.apiKeys.revoke(id),
    rolled: (id) => here.ostiary.admin.apiKeys.roll(id, { overlapSeconds: 0 }),
    disabled: () => here.ostiary.admin.partners.disable('disabled'),
  };
  for (const [slug, end] of Object.entries(ways)) {
    const { key, apiKey } = await keyOf(processes, slug);
    // So that it is known there.
    for (let time = 0; time < 3; time += 1) expect(await whoami(there, key), slug).toBe(200);
    await end(apiKey.id);
    expect([await whoami(there, key), await whoami(here.origin, key)], slug).toEqual([401, 401]);
    if (slug !== 'disabled') continue;
    await here.ostiary.admin.partners.enable(slug);
    expect([await whoami(there, key), await whoami(here.origin, key)]).toEqual([200, 200]);
  }
});

test('tokens, grants and clients that ended are refused by the next request, in another process too', async () => {
  const processes = await twoProcesses();
  const { schema, here, there } = processes;
  const storage = postgresStorage({ connectionString: server.url, schema });
  await storage.open();
  onTestFinished(() => storage.close());
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  await here.ostiary.admin.partners.create({ slug: 'acme', name: 'Acme' });
  const client = async (name: string, partner: string | null = null) => {
    const created = await here.ostiary.admin.clients.create({
      name,
      partner,
      redirectUris: ['https://shop.example/callback'],
      allowedScopes: ['openid'],
    });
    return created.client.clientId;
  };

  let codes = 0;
  /** A token of a user and client, and the code that it came from. */
  async function issued(clientId: string, sub: string) {
    const token = `svc_at_${randomBytes(32).toString('base64url')}`;
    codes += 1;
    const codeDigest = digestOf(`code ${codes}`);
    const now = Date.now();
    await storage.consents.remember({ sub, clientId, scopes: ['openid'], now });
    const times = { authenticatedAt: now, issuedAt: now, expiresAt: now + 600_000 };
    const grant = {
      codeDigest,
      clientId,
      sub,
      scopes: ['openid'],
      nonce: null,
      codeChallenge: null,
      ...times,
    };
    expect(await storage.grants.issue({ ...grant, redirectUri: 'https://shop.example/callback' })).toBe(true);
    const redemption = {
      codeDigest,
      token: { digest: digestOf(token), issuedAt: now, expiresAt: now + 3_600_000 },
      maxFailedVerifiers: 5,
      now,
    };
    expect(await storage.grants.redeem(redemption)).toBe('redeemed');
    return { token, codeDigest };
  }
  const userinfo = async (token: string) => {
    const answer = await fetch(`${there}/v1/oauth/userinfo`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.arrayBuffer();
    return answer.status;
  };

  const [shop, gone] = [await client('Shop'), await client('Gone')];
  const ofPartner = await client('Of a partner', 'acme');
  const ways: { readonly [name: string]: (issue: Awaited<ReturnType<typeof issued>>) => Promise<unknown> } = {
    'the token is revoked': ({ token }) =>
      fetch(`${here.origin}/v1/oauth/revoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }).then((answer) => answer.json()),
    'its grant is revoked': ({ codeDigest }) => storage.grants.revoke(codeDigest, Date.now()),
    'its user is ended': () => here.ostiary.users.end('ana'),
    'its client is disabled': () => here.ostiary.admin.clients.disable(gone),
    'the partner is disabled': () => here.ostiary.admin.partners.disable('acme'),
  };
  const clientOf = (name: string) =>
    name.includes('partner') ? ofPartner : name.includes('client') ? gone : shop;
  for (const [name, end] of Object.entries(ways)) {
    const issue = await issued(clientOf(name), 'ana');
    for (let time = 0; time < 3; time += 1) expect(await userinfo(issue.token), name).toBe(200);
    await end(issue);
    expect(await userinfo(issue.token), name).toBe(401);
  }
});
