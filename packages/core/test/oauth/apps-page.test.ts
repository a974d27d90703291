import { describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const apps = async (sub = ana.sub) => (await provider.browser(sub).get('/account/apps')).text;

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
      expect((await remove()).location).toContain(`${provider.origin}/account/apps?notice=removed&app=`);
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(false);
  });

  it('shows when an app was used last', async () => {
    await provider.code(await provider.client({ name: 'Used app' }));
    expect(await apps()).toMatch(/Used app[\s\S]*?Last used on <time/);
  });
});

describe('the removal of an app', () => {
  /**
   * Removes a newly connected app and returns its client, with the page and the form that undoes the removal.
   */
  async function removed(name = 'Kafe Lakay') {
    const client = await provider.client({ name });
    const exchanged = (await provider.exchange(client, await provider.code(client))).json();
    const browser = provider.browser();
    const csrf = (await provider.connectedApps(browser)).get(client.id) ?? '';
    const { location } = await browser.post(`/account/apps/${client.id}/revoke`, { csrf });
    const { text } = await browser.get(location ?? '');
    const undo = new URL(location ?? '').searchParams.get('undo') ?? '';
    const restore = (token = undo, as = browser) =>
      as.post(`/account/apps/${client.id}/restore`, { csrf: token });
    return {
      client,
      browser,
      text,
      location: location ?? '',
      undo,
      restore,
      token: String(exchanged.access_token),
    };
  }

  it('names the app, and can be undone: the consent is back, the tokens are not', async () => {
    const { client, browser, text, restore, token } = await removed();
    expect(text).toContain('Kafe Lakay</bdi> no longer has access to your account.');
    for (let click = 0; click < 2; click += 1) {
      const answer = await restore();
      expect(answer.location).toContain('notice=restored');
      expect((await browser.get(answer.location ?? '')).text).toContain(
        'Kafe Lakay</bdi> is connected again.',
      );
    }
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(true);
    expect((await provider.userinfo(token)).outcome).toBe('401 invalid_token');
    expect(await provider.attempt(client, { prompt: 'none' }, browser)).toBe('code');
  });

  it('can be undone for ten minutes', async () => {
    const { browser, client, restore } = await removed();
    provider.clock.advance(600_001);
    const { location } = await restore();
    expect((await browser.get(location ?? '')).text).toContain('can no longer be undone');
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(false);
  });

  it('is undone by nobody else, by no other form, and for no other app', async () => {
    const { client, browser, undo, restore } = await removed();
    const other = await removed('Other app');
    expect((await restore(undo, provider.browser(ben.sub))).location).toBe(`${provider.origin}/account/apps`);
    expect((await restore(undo, provider.browser(null))).outcome).toBe('303 login');
    for (const token of ['', 'x', other.undo, `${undo}x`])
      expect([token, (await restore(token)).status]).toEqual([token, 403]);
    expect((await provider.connectedApps(browser)).has(client.id)).toBe(false);
  });

  it('is shown by no URL that somebody else wrote', async () => {
    const { client, location, undo } = await removed('Some <i>app</i>');
    const notice = async (url: string, sub = ana.sub) => {
      const { text } = await provider.browser(sub).get(url);
      return text.includes('role="status"');
    };
    expect(await notice(location)).toBe(true);
    const other = await provider.client();
    const query = (app: string, token: string) =>
      `/account/apps?${new URLSearchParams({ notice: 'removed', app, undo: token })}`;
    for (const url of [
      query(client.id, ''),
      query(client.id, 'a.b.c'),
      query(other.id, undo),
      query('x', undo),
    ])
      expect([url, await notice(url)]).toEqual([url, false]);
    expect(await notice(location, ben.sub)).toBe(false);
    const restored = `/account/apps?${new URLSearchParams({ notice: 'restored', app: client.id })}`;
    expect(await notice(restored)).toBe(false);
  });
});
