import { describe, expect, it } from 'vitest';
import { operatorsConsole } from '../src/index.ts';
import { operatorsKit } from './console-kit.ts';

const hourMs = 3_600_000;

/** Returns the text of a page without its tags, with single spaces. */
const textOf = (page: string): string =>
  page
    .replace(/<style.*?<\/style>/gs, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

const chartsOf = (page: string): string[] =>
  Array.from(
    page.matchAll(/<svg class="line-chart" role="img" aria-label="([^"]+)"/g),
    ([, label = '']) => label,
  );

/** Starts a provider with statistics of several hours. */
async function busy() {
  const kit = await operatorsKit();
  const { hourlyCounts } = kit.storage;
  const now = kit.provider.clock.now();
  const add = (hoursAgo: number, name: string, count: number, mode: 'live' | 'test' = 'live') =>
    hourlyCounts.add([{ name, mode, count }], now - hoursAgo * hourMs);
  await add(0, 'sign_ins', 1_200);
  await add(23, 'sign_ins', 34);
  await add(48, 'sign_ins', 5_000);
  await add(1, 'deliveries_accepted', 9_996);
  await add(1, 'deliveries_failed', 4);
  await add(2, 'requests', 2_000);
  await add(2, 'requests_refused', 100);
  await add(2, 'requests_failed', 1);
  await add(3, 'wait_ms', 2_400);
  await add(0, 'requests', 7, 'test');
  return { kit, browser: kit.browser('ana') };
}

describe('the first page of operators', () => {
  it('has four numbers of the last 24 hours, each with a chart in words', async () => {
    const { browser } = await busy();
    const { status, text } = await browser.get('/operators');
    expect(status).toBe(200);
    expect(chartsOf(text)).toEqual([
      'Sign-ins, 24 hours: 1,234',
      'Delivery attempts accepted, 24 hours: 99.9% · 4 of 10,000 attempts failed',
      'API requests, 24 hours: 2,000 · 0.1% server errors, 5% refused',
      expect.stringMatching(/^Oldest work waiting, 24 hours: .* · The longest wait was 2\.4s$/),
    ]);
    expect(text.match(/<rect class="delivered"/g)).toHaveLength(1);
    expect(text.match(/<rect class="dropped"/g)).toHaveLength(1);
    expect(text.match(/<polyline points="/g)).toHaveLength(3);
    expect(text.match(/<tr>/g)).toHaveLength(25);
  });

  it('shows 30 days, and test data, as the links choose', async () => {
    const { browser } = await busy();
    const days = (await browser.get('/operators?period=30d')).text;
    expect(chartsOf(days)[0]).toBe('Sign-ins, 30 days: 6,234');
    expect(days.match(/<tr>/g)).toHaveLength(31);
    const test = (await browser.get('/operators?mode=test')).text;
    expect(chartsOf(test)[2]).toBe('API requests, 24 hours: 7 · 0% server errors, 0% refused');
    expect(test).toContain('mode=test&amp;period=30d');
  });

  it('says on the first day that nothing happened yet', async () => {
    const kit = await operatorsKit();
    const { text } = await kit.browser('ana').get('/operators');
    const words = textOf(text);
    for (const hint of [
      'No user signed in to an app in this period.',
      'No delivery was attempted in this period.',
      'No partner called the API in this period.',
      'No changes yet.',
    ])
      expect(words).toContain(hint);
    expect(chartsOf(text)).toHaveLength(4);
    expect(text).not.toMatch(/NaN|Infinity/);
  });

  it('says first what needs the operator, with links to it', async () => {
    const kit = await operatorsKit();
    const key = await kit.key();
    await kit.endpoint(key);
    await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
    const { text } = await kit.browser('ana').get('/operators');
    const needs = /role="alert">(.*?)<\/div><\/div>/s.exec(text)?.[1] ?? '';
    expect(textOf(needs)).toContain('Something needs you.');
    expect(needs).toContain('<a href="#failing">Endpoints that fail now: 1</a>');
    expect(needs).toContain('<a href="#dropped">Deliveries given up within a day: 1</a>');
    expect(text).toContain('id="failing"');
    expect(text).toContain('id="dropped"');
  });

  it('lists the latest changes with links to their objects', async () => {
    const kit = await operatorsKit();
    const admin = kit.admin.as('jo@example.com');
    await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    kit.provider.clock.advance(60_000);
    const settings = { partner: 'kafe', mode: 'live', scopes: ['webhooks'], name: 'Till' } as const;
    const { apiKey } = await admin.apiKeys.issue(settings);
    kit.provider.clock.advance(60_000);
    await admin.apiKeys.revoke(apiKey.id);
    await admin.audit.record({ action: 'user.block', target: 'user:<b>x</b>' });
    kit.provider.clock.advance(2 * hourMs);
    const browser = kit.browser('ana');
    const { text } = await browser.get('/operators');
    const words = textOf(text);
    expect(words).toContain('jo@example.com created the partner kafe 2 hours ago');
    expect(words).toContain('jo@example.com revoked the API key Till 2 hours ago');
    expect(words).toContain('jo@example.com user.block user:&lt;b&gt;x&lt;/b&gt;');
    const links = Array.from(text.matchAll(/href="([^"]*\/operators\/[^"]*)"/g), ([, url = '']) => url);
    expect(links.filter((url) => url.endsWith(`/partners/kafe/keys/${apiKey.id}`))).toHaveLength(2);
    for (const link of new Set(links)) {
      const url = link.replaceAll('&amp;', '&').replace(kit.provider.site, '');
      expect([url, (await browser.get(url)).status]).toEqual([url, 200]);
    }
  });
});

describe('signing out', () => {
  it('is a form on every page where the host offers one, with its fields', async () => {
    const kit = await operatorsKit();
    const signOut = { action: '/staff/sign-out', fields: { csrf: '"><b>' } };
    const { text } = await kit.browser('ana', { signOut }).get('/operators/audit');
    const form = `<form method="post" action="${kit.provider.origin}/staff/sign-out"><input type="hidden" name="csrf" value="&quot;&gt;&lt;b&gt;">`;
    expect(text.replaceAll('&#34;', '&quot;')).toContain(form);
    expect(text).toMatch(/<button class="compact">Sign out<\/button><\/form>/);
    expect((await kit.browser('bob').get('/operators')).text).not.toContain('Sign out');
  });
});

describe('acts of the host', () => {
  it('have words in the language of the page, and those that change nothing are no latest changes', async () => {
    const acts = {
      'user.block': { words: { en: 'blocked <the> user', fr: 'a bloqué l’utilisateur' } },
      'staff.sign_in': { words: { en: 'signed in as' }, isChange: false },
    };
    const authenticate = () => ({ name: 'ana' });
    const kit = await operatorsKit({ operators: { authenticate, pages: operatorsConsole({ acts }) } });
    const { audit } = kit.admin.as('jo');
    await audit.record({ action: 'user.block', target: 'user:u-1' });
    for (let index = 0; index < 20; index += 1)
      await audit.record({ action: 'staff.sign_in', target: 'staff:jo' });
    const browser = kit.browser('ana');
    const home = textOf((await browser.get('/operators')).text);
    expect(home).toContain('jo blocked &lt;the&gt; user u-1');
    expect(home).not.toContain('signed in as');
    const french = { 'accept-language': 'fr' };
    const log = textOf((await browser.get('/operators/audit', french)).text);
    expect(log).toContain('jo a bloqué l’utilisateur u-1');
    expect(log).toContain('jo signed in as jo');
    const { text } = await browser.get('/operators/audit?action=user.block');
    expect(text).toContain('<option value="user.block" selected>blocked &lt;the&gt; user</option>');
  });
});

describe('the history of an object', () => {
  it('says who changed what and when, with the values before and after', async () => {
    const kit = await operatorsKit();
    const admin = kit.admin.as('jo@example.com');
    await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    await kit.provider.client({ clientId: 'app', name: 'App', redirectUris: ['https://app.example/cb'] });
    kit.provider.clock.advance(1);
    await admin.partners.rename('kafe', 'Kafe <i>Lakay</i>');
    const redirectUris = ['https://app.example/cb', 'https://app.example/new'];
    await admin.clients.update('app', { name: 'App', redirectUris, requirePkce: true });
    const browser = kit.browser('ana');
    const partner = (await browser.get('/operators/partners/kafe')).text;
    expect(textOf(partner)).toContain('jo@example.com renamed the partner kafe');
    expect(textOf(partner)).toMatch(/name Kafe Kafe &lt;i&gt;Lakay&lt;\/i&gt;/);
    expect(textOf(partner).indexOf('renamed')).toBeLessThan(textOf(partner).indexOf('created the partner'));
    const client = textOf((await browser.get('/operators/clients/app')).text);
    expect(client).toContain(
      'redirectUris https://app.example/cb https://app.example/cb https://app.example/new',
    );
    expect(client).toContain('requirePkce false true');
    // The name was sent, but did not change.
    expect(client.slice(client.indexOf('Value Before After'))).not.toMatch(/^Value Before After name/);
  });

  it('is on the pages of keys, endpoints and signing keys', async () => {
    const kit = await operatorsKit();
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    const owner = { partner: key.partner, mode: 'test' } as const;
    await kit.admin.as('eva').webhooks.disable(owner, endpoint);
    kit.provider.clock.advance(1);
    const { apiKey } = await kit.admin.as('eva').apiKeys.roll(key.id);
    await kit.admin.as('eva').signingKeys.rotate();
    const browser = kit.browser('ana');
    const history = async (page: string) => {
      const { text } = await browser.get(`/operators${page}`);
      return textOf(text.slice(text.indexOf('id="history"')));
    };
    const partner = `/partners/${key.partner}`;
    expect(await history(`${partner}/webhooks/${endpoint}?mode=test`)).toContain('eva disabled the endpoint');
    expect(await history(`${partner}/keys/${key.id}`)).toMatch(
      /eva rolled the API key.*host issued the API key/,
    );
    expect(await history(`${partner}/keys/${apiKey.id}`)).toContain('eva rolled the API key');
    expect(await history('/signing-keys')).toContain('eva created the signing key');
    expect((await history('/partners/nobody')).length).toBeGreaterThan(0);
  });
});

describe('the audit log', () => {
  /** Starts a provider with audit log entries of two people on two days. */
  async function days() {
    const kit = await operatorsKit();
    await kit.admin.as('ana').partners.create({ slug: 'one', name: 'One' });
    await kit.admin.as('bob').partners.create({ slug: 'two', name: 'Two' });
    const first = new Date(kit.provider.clock.now()).toISOString().slice(0, 10);
    kit.provider.clock.advance(24 * hourMs);
    await kit.admin.as('ana').partners.disable('two');
    await kit.admin.as('ana').audit.record({ action: 'user.block', target: 'user:x' });
    const second = new Date(kit.provider.clock.now()).toISOString().slice(0, 10);
    const browser = kit.browser('ana');
    /** Returns the actions of the audit log entries that the page shows, newest first. */
    const acts = async (query: string) => {
      const { status, text } = await browser.get(`/operators/audit?${query}`);
      expect([query, status]).toEqual([query, 200]);
      return Array.from(text.matchAll(/audit\?action=([\w.]+)">/g), ([, action = '']) => action);
    };
    return { kit, browser, acts, first, second };
  }

  it('is narrowed by person, act, object and day, each alone and together', async () => {
    const { acts, first, second } = await days();
    const all = ['user.block', 'partner.disable', 'partner.create', 'partner.create'];
    expect((await acts('')).toSorted()).toEqual(all.toSorted());
    expect(await acts('actor=bob')).toEqual(['partner.create']);
    expect(await acts('action=partner.create')).toHaveLength(2);
    expect(await acts('action=partner.create&actor=ana')).toEqual(['partner.create']);
    expect((await acts(`from=${second}`)).toSorted()).toEqual(['partner.disable', 'user.block']);
    expect(await acts(`to=${first}`)).toHaveLength(2);
    expect(await acts(`from=${first}&to=${second}`)).toHaveLength(4);
    expect(await acts(`from=${first}&to=${first}&target=partner:two&actor=bob`)).toEqual(['partner.create']);
    expect(await acts(`target=partner:two&to=${second}&actor=nobody`)).toEqual([]);
    // An act of the host application, which has no words, can be selected, too.
    expect(await acts('action=user.block')).toEqual(['user.block']);
  });

  it('keeps the filter while it pages, and refuses what is no day', async () => {
    const { kit, browser, acts } = await days();
    for (let number = 0; number < 51; number += 1)
      await kit.admin.as('ana').audit.record({ action: 'user.block', target: `user:${number}` });
    const { text } = await browser.get('/operators/audit?actor=ana&action=user.block');
    const older = /href="[^"]*\/operators\/audit\?([^"]*after=[^"]*)"/.exec(text)?.[1] ?? '';
    expect(older).toContain('actor=ana');
    expect(await acts(older.replaceAll('&amp;', '&'))).toHaveLength(2);
    for (const query of ['from=2030-02-31', 'to=2030-02-31', 'to=%22%3E%3Cb%3E']) {
      const wrong = await browser.get(`/operators/audit?${query}`);
      expect(wrong.status).toBe(400);
      expect(wrong.text).toContain('This has to be a day such as 2030-01-31.');
      expect(wrong.text).not.toContain('"><b>');
    }
    expect((await browser.get('/operators/audit?actor=%00&target=a%00')).status).toBe(200);
  });
});
