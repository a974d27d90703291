import { describe, expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import type { TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const { admin, users } = provider.ostiary;

/** Gives a client access to one user: two tokens, an unused code, and a remembered consent. */
async function giveAccess(sub: string, client: TestClient) {
  const browser = provider.browser(sub);
  const token = await provider.token(client, 'openid', browser);
  const sibling = await provider.token(client, 'openid', browser);
  return { sub, client, token, sibling, code: await provider.code(client, {}, browser) };
}
type Access = Awaited<ReturnType<typeof giveAccess>>;

const everything = ['token', 'sibling', 'consent', 'code'];

/**
 * Returns which parts of a client's access are still valid. The code is checked last, because that uses it
 * up.
 */
async function leftOf({ sub, client, token, sibling, code }: Access): Promise<string[]> {
  const silently = await provider.attempt(client, { prompt: 'none' }, provider.browser(sub));
  const isLeft = [await provider.isAlive(token), await provider.isAlive(sibling), silently === 'code'];
  isLeft.push((await provider.redeem(client, code)) === '200 ok');
  return everything.filter((_, index) => isLeft[index]);
}

type Who = 'anaOne' | 'anaTwo' | 'benOne' | 'benTwo';
type Ending = (given: Record<Who, Access>) => Promise<unknown>;

it.each<readonly [string, Ending, Partial<Record<Who, readonly string[]>>]>([
  ['nobody', async () => {}, {}],
  ['a token', ({ anaOne }) => provider.revoke(anaOne.token), { anaOne: ['sibling', 'consent', 'code'] }],
  ['a connected app', ({ anaOne }) => provider.removeApp(anaOne.client), { anaOne: [] }],
  [
    'a client, which nothing comes back with',
    async ({ anaOne: { client }, benOne }) => {
      await admin.clients.disable(client.id);
      expect((await provider.userinfo(benOne.token)).outcome).toBe('401 invalid_token');
      expect(await provider.redeem(client, benOne.code)).toBe('401 invalid_client');
      await admin.clients.enable(client.id);
    },
    { anaOne: [], benOne: [] },
  ],
  ['a user', () => users.end(ana.sub), { anaOne: [], anaTwo: [] }],
  ['a user whom nobody knows', () => users.end('nobody'), {}],
])('the end of %s takes what belongs to it, and nothing else', async (_what, end, expected) => {
  const [one, two] = [await provider.client(), await provider.client()];
  const given = {
    anaOne: await giveAccess(ana.sub, one),
    anaTwo: await giveAccess(ana.sub, two),
    benOne: await giveAccess(ben.sub, one),
    benTwo: await giveAccess(ben.sub, two),
  };
  await end(given);
  for (const [who, access] of Object.entries(given))
    expect([who, await leftOf(access)]).toEqual([who, expected[who as Who] ?? everything]);
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
});
