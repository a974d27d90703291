import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everything, giveAccess, leftOf } from '../support/access.ts';
import { ana, ben } from '../support/directory.ts';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());

async function revokeApp(sub: string, client: TestClient) {
  const browser = provider.browser(sub);
  const { text } = await browser.get('/account/apps');
  const form = text.split('<form').find((part) => part.includes(`/account/apps/${client.id}/revoke`)) ?? '';
  const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1] ?? '';
  return browser.post(`/account/apps/${client.id}/revoke`, { csrf });
}

describe('the page of connected apps', () => {
  it('lists what the signed-in user allowed, and nothing of others', async () => {
    const [mine, hers] = [
      await provider.client({ name: 'App of Ben' }),
      await provider.client({ name: 'App of Ana' }),
    ];
    await provider.code(mine, { scope: 'openid kyc' }, provider.browser(ben.sub));
    await provider.code(hers, {}, provider.browser(ana.sub));
    const { status, text } = await provider.browser(ben.sub).get('/account/apps');
    expect(status).toBe(200);
    for (const part of ['App of Ben', 'See your identity check', ben.name ?? ''])
      expect(text).toContain(part);
    expect(text).not.toContain('App of Ana');
  });

  it('shows an app once, with all that was allowed over time', async () => {
    const client = await provider.client({ name: 'Grown app' });
    await provider.code(client, { scope: 'openid' });
    await provider.code(client, { scope: 'profile' });
    const { text } = await provider.browser().get('/account/apps');
    expect(text.match(/Grown app<\/bdi><\/h2>/g)).toHaveLength(1);
    const item = text.split('<li class="app">').find((part) => part.includes('Grown app')) ?? '';
    for (const title of ['Know who you are', 'See your profile']) expect(item).toContain(title);
    expect(item).not.toContain('See your balances');
  });

  it('no longer shows an app that was revoked, or that was disabled', async () => {
    const [revoked, disabled] = [
      await provider.client({ name: 'Revoked app' }),
      await provider.client({ name: 'Disabled app' }),
    ];
    for (const client of [revoked, disabled]) await provider.code(client);
    await revokeApp(ana.sub, revoked);
    await provider.ostiary.admin.clients.disable(disabled.id);
    const { text } = await provider.browser().get('/account/apps?notice=revoked');
    for (const name of ['Revoked app', 'Disabled app']) expect(text).not.toContain(name);
    expect(text).toContain('role="status"');
  });

  it('takes a removal again without harm', async () => {
    const client = await provider.client();
    await provider.code(client);
    const browser = provider.browser();
    const { text } = await browser.get('/account/apps');
    const form = text.split('<form').find((part) => part.includes(client.id)) ?? '';
    const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1] ?? '';
    for (let time = 0; time < 2; time += 1) {
      expect((await browser.post(`/account/apps/${client.id}/revoke`, { csrf })).status).toBe(303);
    }
  });

  it('removes nothing with the form of another app or user, and leads to the login without a sign-in', async () => {
    const [one, two] = [await provider.client(), await provider.client()];
    const mine = await giveAccess(provider, ana.sub, one);
    await provider.code(two);
    const browser = provider.browser();
    const { text } = await browser.get('/account/apps');
    const form = text.split('<form').find((part) => part.includes(two.id)) ?? '';
    const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1] ?? '';
    expect((await browser.post(`/account/apps/${one.id}/revoke`, { csrf })).status).toBe(403);
    expect((await provider.browser(ben.sub).post(`/account/apps/${two.id}/revoke`, { csrf })).status).toBe(
      403,
    );
    expect(
      (await provider.browser(null).post(`/account/apps/${two.id}/revoke`, { csrf })).location,
    ).toContain('/login?');
    expect(await leftOf(provider, mine)).toEqual(everything);
  });
});
