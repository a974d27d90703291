import { describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const apps = async (sub = ana.sub) => (await provider.browser(sub).get('/account/apps?notice=revoked')).text;

describe('the page of connected apps', () => {
  it('lists what the signed-in user allowed over time, each app once, and nothing of others', async () => {
    const mine = await provider.client({ name: 'App of Ben' });
    await provider.code(mine, { scope: 'openid kyc' }, provider.browser(ben.sub));
    await provider.code(mine, { scope: 'profile' }, provider.browser(ben.sub));
    await provider.code(await provider.client({ name: 'App of Ana' }));
    const text = await apps(ben.sub);
    expect(text.match(/App of Ben<\/bdi><\/h2>/g)).toHaveLength(1);
    for (const part of ['See your identity check', 'See your profile', ben.name ?? ''])
      expect(text).toContain(part);
    for (const part of ['App of Ana', 'See your balances']) expect(text).not.toContain(part);
  });

  it('no longer shows an app that was disabled', async () => {
    const disabled = await provider.client({ name: 'Disabled app' });
    await provider.code(disabled);
    await provider.ostiary.admin.clients.disable(disabled.id);
    expect(await apps()).not.toContain('Disabled app');
  });

  it('says what was removed, accepts the form twice, and does nothing without a signed-in user', async () => {
    const client = await provider.client();
    await provider.code(client);
    const browser = provider.browser();
    const csrf = (await provider.connectedApps(browser)).get(client.id) ?? '';
    const remove = async (as = browser) => as.post(`/account/apps/${client.id}/revoke`, { csrf });
    expect((await remove(provider.browser(null))).outcome).toBe('303 login');
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(true);
    for (let time = 0; time < 2; time += 1)
      expect((await remove()).location).toBe(`${provider.origin}/account/apps?notice=revoked`);
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(false);
    expect(await apps()).toContain('role="status"');
  });
});
