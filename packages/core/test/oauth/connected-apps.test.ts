import { describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const apps = async (sub = ana.sub) => (await provider.browser(sub).get('/account/apps?notice=revoked')).text;

describe('the page of connected apps', () => {
  it('lists what the signed-in user allowed, and nothing of others', async () => {
    const mine = await provider.client({ name: 'App of Ben' });
    const hers = await provider.client({ name: 'App of Ana' });
    await provider.code(mine, { scope: 'openid kyc' }, provider.browser(ben.sub));
    await provider.code(hers, {}, provider.browser(ana.sub));
    const text = await apps(ben.sub);
    for (const part of ['App of Ben', 'See your identity check', ben.name ?? ''])
      expect(text).toContain(part);
    expect(text).not.toContain('App of Ana');
  });

  it('shows an app once, with all that was allowed over time', async () => {
    const client = await provider.client({ name: 'Grown app' });
    await provider.code(client, { scope: 'openid' });
    await provider.code(client, { scope: 'profile' });
    const text = await apps();
    expect(text.match(/Grown app<\/bdi><\/h2>/g)).toHaveLength(1);
    const item = text.split('<li class="app">').find((part) => part.includes('Grown app')) ?? '';
    for (const title of ['Know who you are', 'See your profile']) expect(item).toContain(title);
    expect(item).not.toContain('See your balances');
  });

  it('no longer shows an app that was revoked, or that was disabled', async () => {
    const revoked = await provider.client({ name: 'Revoked app' });
    const disabled = await provider.client({ name: 'Disabled app' });
    for (const client of [revoked, disabled]) await provider.code(client);
    await provider.removeApp(revoked);
    await provider.ostiary.admin.clients.disable(disabled.id);
    const text = await apps();
    for (const name of ['Revoked app', 'Disabled app']) expect(text).not.toContain(name);
    expect(text).toContain('role="status"');
  });

  it('takes a removal again without harm, and leads to the login where nobody is signed in', async () => {
    const client = await provider.client();
    await provider.code(client);
    const browser = provider.browser();
    const csrf = (await provider.connectedApps(browser)).get(client.id) ?? '';
    const remove = async (as = browser) =>
      (await as.post(`/account/apps/${client.id}/revoke`, { csrf })).outcome;
    expect(await remove(provider.browser(null))).toBe('303 login');
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(true);
    for (let time = 0; time < 2; time += 1) expect(await remove()).toBe('303 elsewhere');
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(false);
  });
});
