import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { digestOf, issued, redeem } from '../../testing/src/contract/samples.ts';
import { child } from '../../testing/test/adapters/processes.ts';
import { startProvider } from './provider.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

/** A provider here, and one in another process. */
async function twoProcesses() {
  const schema = server.nextSchema();
  const sealingKey = randomBytes(32).toString('base64url');
  const here = await startProvider({ url: server.url, schema, sealingKey });
  onTestFinished(here.stop);
  const script = new URL('children/provider.ts', import.meta.url);
  const other = child(script, server.url, schema, sealingKey);
  onTestFinished(async () => {
    const exited = once(other, 'exit');
    other.send('stop');
    expect((await exited)[0]).toBe(0);
  });
  const [there] = await once(other, 'message');
  return { schema, here, there: String(there) };
}

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  return answer.status;
}
const whoami = (origin: string, key: string) => statusOf(`${origin}/v1/partner/whoami`, { 'x-api-key': key });

type Processes = Awaited<ReturnType<typeof twoProcesses>>;

async function keyOf({ here }: Processes, slug: string) {
  await here.ostiary.admin.partners.create({ slug, name: slug });
  return here.ostiary.admin.apiKeys.issue({ partner: slug, mode: 'live', scopes: ['payments:read'] });
}

test('a key that is revoked, or whose partner is disabled, is refused by the next request in another process', async () => {
  const processes = await twoProcesses();
  const { here, there } = processes;
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
  const { storage } = await server.opened({ schema });
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

  /** A token of a client and a user, and the code that it came from. */
  async function token(clientId: string) {
    const token = `svc_at_${randomBytes(32).toString('base64url')}`;
    const issuedAt = Date.now();
    const grant = await issued(storage, token, {
      clientId,
      sub: 'ana',
      issuedAt,
      expiresAt: issuedAt + 600_000,
    });
    const stored = { digest: digestOf(token), issuedAt, expiresAt: issuedAt + 3_600_000 };
    expect(await redeem(storage, grant, stored)).toBe('redeemed');
    return { token, codeDigest: grant.codeDigest };
  }
  const userinfo = (token: string) =>
    statusOf(`${there}/v1/oauth/userinfo`, { authorization: `Bearer ${token}` });

  const [shop, gone] = [await client('Shop'), await client('Gone')];
  const ofPartner = await client('Of a partner', 'acme');
  const ways: { readonly [name: string]: (issue: Awaited<ReturnType<typeof token>>) => Promise<unknown> } = {
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
    const issue = await token(clientOf(name));
    for (let time = 0; time < 3; time += 1) expect(await userinfo(issue.token), name).toBe(200);
    await end(issue);
    expect(await userinfo(issue.token), name).toBe(401);
  }
});
