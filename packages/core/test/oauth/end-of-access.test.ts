import { describe, expect, it } from 'vitest';
import { everything, giveAccess, leftOf } from '../support/access.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import type { TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const { admin, users } = provider.ostiary;

/** Ana and Ben, each with two clients. */
async function world() {
  const [one, two] = [await provider.client(), await provider.client()];
  return {
    one,
    anaOne: await giveAccess(provider, ana.sub, one),
    anaTwo: await giveAccess(provider, ana.sub, two),
    benOne: await giveAccess(provider, ben.sub, one),
    benTwo: await giveAccess(provider, ben.sub, two),
  };
}

const left = (given: Parameters<typeof leftOf>[1]): Promise<string[]> => leftOf(provider, given);

describe('the end of access', () => {
  it('does not come by itself', async () => {
    const { one: _, ...given } = await world();
    for (const access of Object.values(given)) expect(await left(access)).toEqual(everything);
  });

  it('of a revoked token is that token alone', async () => {
    const { anaOne, anaTwo, benOne } = await world();
    await provider.revoke(anaOne.token);
    expect(await left(anaOne)).toEqual(['sibling', 'consent', 'code']);
    for (const other of [anaTwo, benOne]) expect(await left(other)).toEqual(everything);
  });

  it('of a connected app is everything of that user and client', async () => {
    const { one, anaOne, anaTwo, benOne, benTwo } = await world();
    const answer = await provider.removeApp(one);
    expect([answer.status, answer.location]).toEqual([303, `${provider.origin}/account/apps?notice=revoked`]);
    expect(await left(anaOne)).toEqual([]);
    for (const other of [anaTwo, benOne, benTwo]) expect(await left(other)).toEqual(everything);
  });

  it('of a disabled client is everything of that client; enabling it brings nothing back', async () => {
    const { one, anaOne, anaTwo, benOne, benTwo } = await world();
    await admin.clients.disable(one.id);
    for (const gone of [anaOne, benOne]) {
      expect((await provider.userinfo(gone.token)).outcome).toBe('401 invalid_token');
      expect(await provider.redeem(one, gone.code)).toBe('401 invalid_client');
    }
    await admin.clients.enable(one.id);
    for (const gone of [anaOne, benOne]) expect(await left(gone)).toEqual([]);
    for (const other of [anaTwo, benTwo]) expect(await left(other)).toEqual(everything);
  });

  it('of a user is everything of that user', async () => {
    const { anaOne, anaTwo, benOne, benTwo } = await world();
    await users.end(ana.sub);
    for (const gone of [anaOne, anaTwo]) expect(await left(gone)).toEqual([]);
    for (const other of [benOne, benTwo]) expect(await left(other)).toEqual(everything);
    await users.end('nobody');
  });
});

describe('an interaction under way', () => {
  it.each(['shown', 'answered', 'resumed'])(
    'ends when the client is disabled before it is %s',
    async (moment) => {
      const client = await provider.client();
      const page = await openConsent(provider, client);
      if (moment === 'resumed') await page.approve();
      await admin.clients.disable(client.id);
      const go = { shown: page.address, resumed: new URL(page.resume, page.address).href }[moment];
      const answer = go === undefined ? await page.approve() : await page.browser.get(go);
      expect([answer.outcome, answer.location]).toEqual(['401 invalid_client', null]);
    },
  );

  it('gives nothing when the app is revoked, or the user ended, between the answer and the way back', async () => {
    for (const end of [(client: TestClient) => provider.removeApp(client), () => users.end(ana.sub)]) {
      const client = await provider.client();
      const page = await openConsent(provider, client);
      const approved = await page.approve();
      await end(client);
      expect((await page.browser.get(approved.location ?? '')).outcome).toBe('303 interaction');
      const again = await openConsent(provider, client, {}, page.browser);
      expect((await again.finish()).outcome).toBe('303 code');
    }
  });

  it('goes on after a token was revoked', async () => {
    const client = await provider.client();
    const token = await provider.token(client);
    const page = await openConsent(provider, client, { scope: 'openid kyc' });
    await provider.revoke(token);
    expect((await page.finish()).outcome).toBe('303 code');
  });
});

it('several providers on one storage see the end of access with the next request', async () => {
  const { storage } = fragileStorage();
  const sealingKeys = [new Uint8Array(32).fill(1)];
  const first = await startProvider({ storage, sealingKeys });
  const second = await startProvider({ storage, sealingKeys, clock: first.clock }, first.host);
  const client = await first.client();
  const token = await first.token(client);
  const code = await first.code(client);
  expect(await second.isAlive(token)).toBe(true);
  await first.ostiary.admin.clients.disable(client.id);
  expect(await second.isAlive(token)).toBe(false);
  expect(await second.redeem(client, code)).toBe('401 invalid_client');
  expect(await second.attempt(client)).toBe('401 invalid_client');
});
