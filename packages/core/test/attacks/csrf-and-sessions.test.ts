import { describe, expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

/**
 * Headers of a form post from a page that hides its origin: on another site, and below on the provider's own
 * site.
 */
const crossSite = { origin: 'null', 'sec-fetch-site': 'cross-site' };
const hidden = { origin: 'null', 'sec-fetch-site': 'same-origin' };

describe('the consent form', () => {
  it('is refused without its token, and with one that is bent, foreign or old', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client);
    const otherInteraction = await openConsent(provider, client, {}, page.browser);
    const otherUser = await openConsent(provider, client, {}, provider.browser(ben.sub));
    const [time = '', proof = '', user = ''] = page.csrf.split('.');
    const [, , another = ''] = otherUser.csrf.split('.');
    expect(another).not.toBe(user);
    const later = (Number.parseInt(time, 36) + 1).toString(36);
    const times = [later, `0${time}`, 'NaN', 'infinity'].map((other) => `${other}.${proof}.${user}`);
    const cut = ['', time, proof, `${time}.`, `${time}.${proof}`, page.csrf.slice(0, -1)];
    const bent = [`${page.csrf}A`, `${time}.${proof.toUpperCase()}.${user}`, 'constructor.constructor'];
    const renamed = [another, ''].map((other) => `${time}.${proof}.${other}`);
    const tokens = [otherInteraction.csrf, otherUser.csrf, ...times, ...cut, ...bent, ...renamed];
    const decision = 'approve';
    for (const form of [{ decision }, ...tokens.map((csrf) => ({ decision, csrf }))]) {
      const answer = await page.browser.post(page.address, form);
      expect.soft([form, answer.status, answer.location]).toEqual([form, 403, null]);
    }
    expect(await provider.attempt(client)).toBe('interaction');
    expect((await page.finish()).outcome).toBe('303 code');
  });

  it('is refused from another site, in each header by which a browser shows this', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client);
    const { port } = new URL(provider.origin);
    const bent = ['', 'NULL', 'null, null', `${provider.origin}/`, provider.origin.toUpperCase()];
    const nearly = [`https://127.0.0.1:${port}`, `http://localhost:${port}`, 'http://127.0.0.1'];
    const suffixed = [`http://127.0.0.1.evil.example:${port}`, `http://127.0.0.1:${port}.evil.example`];
    const origins = ['https://evil.example', ...bent, ...nearly, ...suffixed];
    const sites = ['cross-site', 'same-site', 'Cross-Site', ''];
    for (const headers of [
      ...origins.map((origin) => ({ origin })),
      ...sites.map((site) => ({ 'sec-fetch-site': site })),
      ...[...sites, 'none', 'Same-Origin'].map((site) => ({ origin: 'null', 'sec-fetch-site': site })),
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ]) {
      const answer = await page.approve(headers);
      expect.soft([headers, answer.status, answer.location]).toEqual([headers, 403, null]);
    }
    // A browser that hides its origin, and is too old to send `Sec-Fetch-Site`.
    const form = new URLSearchParams({ csrf: page.csrf, decision: 'approve' });
    const cookie = page.browser.cookieHeader(page.path);
    const silent = await provider.call(page.path, form, { origin: 'null', cookie });
    expect([silent.status, silent.location]).toEqual([403, null]);
    expect(await provider.attempt(client)).toBe('interaction');
  });

  it('passes with the origin null where the browser says that it is the same one, and the token is right', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client);
    for (const csrf of ['', `${page.csrf}x`]) {
      const answer = await page.post({ csrf, decision: 'approve' }, hidden);
      expect([answer.status, answer.location]).toEqual([403, null]);
    }
    expect(await provider.attempt(client)).toBe('interaction');
    const { location } = await page.approve(hidden);
    expect((await page.browser.get(location ?? '')).outcome).toBe('303 code');
    expect(await provider.attempt(client)).toBe('code');
  });

  it('cannot be sent as a simple cross-site request of another type', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client);
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'text/json', ''])
      expect((await page.approve({ 'content-type': type })).status).toBe(415);
    const inQuery = `${page.address}?csrf=${page.csrf}&decision=approve`;
    expect((await page.browser.get(inQuery)).status).toBe(200);
    expect((await page.browser.post(inQuery, { decision: 'approve' })).status).toBe(403);
    expect(await provider.attempt(client)).toBe('interaction');
  });

  it('is logged with the reason when it is refused, without its token', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client);
    const other = await openConsent(provider, client, {}, provider.browser(ben.sub));
    provider.logged.length = 0;
    await page.approve({ origin: 'https://www.app.example' });
    await page.approve(crossSite);
    await page.approve({ 'sec-fetch-site': 'same-site' });
    await page.approve({ origin: `https://\u00e9${'x'.repeat(5_000)}` });
    await page.browser.post(page.address, { decision: 'approve' });
    await page.post({ decision: 'approve', csrf: other.csrf });
    const expected = provider.origin;
    const foreign = { reason: 'its Origin is not that of authUrl', site: 'same-origin', expected };
    const hidden = 'its Origin is null, and Sec-Fetch-Site does not say same-origin';
    const another = 'Sec-Fetch-Site names another site';
    const refused = (fields: object) => {
      return { level: 'warn', message: 'a form was refused', fields: { form: 'consent', ...fields } };
    };
    expect(provider.logged).toEqual([
      refused({ ...foreign, origin: 'https://www.app.example' }),
      refused({ reason: hidden, origin: 'null', site: 'cross-site', expected }),
      refused({ reason: another, origin: provider.origin, site: 'same-site', expected }),
      refused({ ...foreign, origin: `https://\\u00e9${'x'.repeat(191)}... (5009 characters)` }),
      refused({ reason: 'its token is missing' }),
      refused({ reason: 'its token was not made for this user and purpose, or with another sealing key' }),
    ]);
    for (const { csrf } of [page, other])
      expect(JSON.stringify(provider.logged)).not.toContain(csrf.slice(0, 20));
  });
});

it('planted cookies of the engine mean nothing', async () => {
  const client = await provider.client();
  await provider.authorize(client);
  for (const name of ['svc_session', 'svc_session.sig', 'svc_interaction', '_session']) {
    const victim = provider.browser(null);
    victim.setCookie(name, 'planted', '/');
    const { location, headers } = await victim.get(provider.authorizeUrl(client));
    expect(headers.getSetCookie().join()).not.toMatch(/planted|svc_session/);
    expect((await victim.get(location ?? '')).outcome).toBe('303 login');
  }
});

describe('the removal of a connected app', () => {
  const forms = (sub: string) => provider.connectedApps(provider.browser(sub));

  it('is refused when it is forged', async () => {
    const [client, other] = [await provider.client(), await provider.client()];
    for (const { sub } of [ana, ben])
      for (const app of [client, other]) await provider.authorize(app, {}, provider.browser(sub));
    const [own, foreign] = [await forms(ana.sub), await forms(ben.sub)];
    const { csrf: ofConsent, browser } = await openConsent(provider, client, { scope: 'openid kyc' });
    const path = `/account/apps/${client.id}/revoke`;
    const genuine = own.get(client.id) ?? '';
    const statusOf = async (form: Record<string, string>, headers?: Record<string, string>) =>
      (await browser.post(path, form, headers)).status;
    const bent = ['', own.get(other.id), foreign.get(other.id), ofConsent, `${genuine}x`];
    for (const form of [{}, ...bent.map((csrf) => ({ csrf: csrf ?? 'none' }))])
      expect(await statusOf(form)).toBe(403);
    for (const headers of [{ origin: 'https://evil.example' }, crossSite, { 'sec-fetch-site': 'cross-site' }])
      expect(await statusOf({ csrf: genuine }, headers)).toBe(403);
    expect((await browser.get(`${path}?csrf=${genuine}`)).status).toBe(405);
    const left = async () => [await forms(ana.sub), await forms(ben.sub)].map((apps) => apps.has(client.id));
    expect([await left(), await statusOf({ csrf: genuine }, hidden)]).toEqual([[true, true], 303]);
    expect(await left()).toEqual([false, true]);
  });

  it('is refused with the token of a page that is a day old', async () => {
    const own = await startProvider();
    const to = await own.client();
    await own.authorize(to);
    const csrf = (await own.connectedApps(own.browser())).get(to.id) ?? '';
    for (const hours of [24, -48]) {
      own.clock.advance(hours * 3_600_000 + 1);
      expect((await own.browser().post(`/account/apps/${to.id}/revoke`, { csrf })).status).toBe(403);
    }
    expect(own.logged.map(({ fields }) => fields)).toEqual([
      { form: 'revoke app', reason: 'its page is older than a day' },
      { backMs: 48 * 3_600_000 - 1 },
      { form: 'revoke app', reason: 'its page is from a process whose clock is ahead' },
    ]);
  });
});
