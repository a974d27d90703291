import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../lab/support/browser/browser.ts';
import { fragileStorage } from '../../core/test/support/fragile-storage.ts';
import { operatorsConsole } from '../src/index.ts';
import { csrfOf, type OperatorsKit, operatorsKit, submit } from './console-kit.ts';

/**
 * Creates objects of several kinds, and returns the paths of operators' pages, below `/operators`, with the
 * ids of these objects.
 */
async function everyPage({ admin, provider, key: newKey, endpoint: register }: OperatorsKit) {
  const key = await newKey();
  const endpoint = await register(key);
  await provider.client({ clientId: 'app' });
  expect((await admin.partners.get(key.partner))?.slug).toBe(key.partner);
  const partner = `/partners/${key.partner}`;
  return {
    key,
    endpoint,
    pages: [
      ...['', '/partners', partner, `${partner}/keys`, `${partner}/keys/${key.id}`],
      ...[`${partner}/webhooks?mode=test&status=every`, `${partner}/webhooks/${endpoint}?mode=test`],
      ...['/clients', '/new-client', '/clients/app', '/audit', '/signing-keys', '/upkeep'],
      ...['/users', '/user?sub=u-1', `${partner}/payments?mode=test`, `${partner}/reconciliation?mode=test`],
    ],
  };
}

describe('a visitor who is not an operator', () => {
  it('is refused on every page and action, also with a valid form token, and sees no content', async () => {
    const kit = await operatorsKit();
    const { pages, key } = await everyPage(kit);
    const operator = kit.browser('ana');
    const stranger = kit.browser();
    const acts = await kit.acts();
    const csrf = csrfOf((await operator.get('/operators/partners')).text);
    const form = { csrf, act: 'disable', slug: 'mine', name: 'Mine' };
    for (const page of pages) {
      expect.soft([page, (await operator.get(`/operators${page}`)).status]).toEqual([page, 200]);
      for (const answer of [
        await stranger.get(`/operators${page}`),
        await stranger.post(`/operators${page}`, form),
      ]) {
        expect.soft([page, answer.status]).toEqual([page, 403]);
        expect.soft(answer.text).not.toMatch(new RegExp(`${key.partner}|operators|partners`, 'i'));
      }
    }
    expect(await kit.acts()).toBe(acts);
  });

  it('posts nothing in the name of an operator: each act needs a proof of its own operator', async () => {
    const kit = await operatorsKit();
    const { pages } = await everyPage(kit);
    const ana = kit.browser('ana');
    const bob = kit.browser('bob');
    const csrf = csrfOf((await bob.get('/operators/partners')).text);
    const acts = await kit.acts();
    const shownOnly = /^$|^\/(clients|users)$|\/(payments|reconciliation)\?/;
    for (const page of pages.filter((page) => !shownOnly.test(page))) {
      const path = `/operators${page}`;
      const refused = [
        await ana.post(path, { act: 'disable' }),
        await ana.post(path, { act: 'disable', csrf }),
        await ana.post(path, { act: 'disable', csrf: `${csrf}x` }),
        await bob.post(path, { act: 'disable', csrf }, { origin: 'https://evil.example' }),
        await bob.post(path, { act: 'disable', csrf }, { 'sec-fetch-site': 'cross-site' }),
      ];
      expect.soft([page, ...refused.map(({ status }) => status)]).toEqual([page, 403, 403, 403, 403, 403]);
    }
    expect(await kit.acts()).toBe(acts);
    expect((await submit(bob, '/upkeep', { act: 'purge' })).status).toBe(303);
  });
});

describe('a page for operators', () => {
  it('runs the same statements for any amount of data, and shows at most fifty rows of a list', async () => {
    const database = fragileStorage();
    const kit = await operatorsKit({}, database.storage);
    const { pages, key, endpoint } = await everyPage(kit);
    const browser = kit.browser('ana');
    const counts = async () => {
      const all: [string, number][] = [];
      for (const page of pages) {
        // Let cached signing keys expire.
        kit.provider.clock.advance(60_000);
        database.forget();
        const { status, text } = await browser.get(`/operators${page}`);
        // Counts of earlier requests are stored when their time has come, not because of this page.
        all.push([page, database.calls.filter((call) => call !== 'hourlyCounts.add').length]);
        expect(status).toBe(200);
        const listed = text.replaceAll(/<nav[\s\S]*?<\/nav>/g, '').match(/<li/g) ?? [];
        expect(listed.length).toBeLessThanOrEqual(60);
      }
      return all;
    };
    const few = await counts();
    // The frame counts partners and apps. The page of a partner also looks for obstacles, its keys and the history.
    for (const [, calls] of few) expect(calls).toBeLessThanOrEqual(10);
    for (let index = 0; index < 1_000; index += 1) {
      const slug = `p-${index}`;
      await kit.admin.partners.create({ slug, name: slug });
      await kit.admin.apiKeys.issue({ partner: key.partner, mode: 'live', scopes: ['webhooks'] });
      await kit.provider.client({ clientId: `c-${index}` });
    }
    for (let index = 0; index < 60; index += 1) await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
    expect(await counts()).toEqual(few);
    expect(endpoint).not.toBe('');
  }, 120_000);

  it('links from one page of a list to the next, until the end', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const partner = await kit.provider.partner('kafe');
    for (let index = 0; index < 120; index += 1) {
      kit.provider.clock.advance(1);
      await kit.admin.partners.create({ slug: `p-${index}`, name: 'One' });
      await kit.admin.apiKeys.issue({ partner, mode: 'live', scopes: ['webhooks'] });
      await kit.provider.client({ clientId: `c-${index}` });
    }
    for (const [page, pattern, count] of [
      ['/partners', /href="[^"]*\/partners\/([a-z0-9-]+)"/g, 121],
      ['/partners/kafe/keys', /keys\/(key_\w+)"/g, 120],
      ['/clients', /\/clients\/([\w-]+)"/g, 120],
      ['/audit', /<li id="(aud_\w+)"/g, 361],
    ] as const) {
      const seen: string[] = [];
      let next: string | undefined = `/operators${page}`;
      let steps = 0;
      while (next !== undefined && steps < 20) {
        const { text } = await browser.get(next);
        for (const [, id = ''] of text.matchAll(pattern)) seen.push(id);
        next = /href="([^"]*after=[^"]*)">Next page</.exec(text)?.[1]?.replaceAll('&amp;', '&');
        steps += 1;
      }
      const different = new Set(seen).size;
      expect.soft([page, seen.length, different, steps]).toEqual([page, count, count, Math.ceil(count / 50)]);
    }
  }, 60_000);
});

const evil = '<script>alert(1)</script><img src=x onerror=alert(1)>"\'><b>';

describe('text written by others', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /**
   * Opens a tab in a real browser with the operator's cookie. Collects messages in the browser's console,
   * such as violations of the Content-Security-Policy, dialogs, and requests to other origins.
   */
  async function watched(kit: OperatorsKit, name: string): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext();
    const [, value = ''] = kit.browser(name).cookieHeader('/').split('=');
    await context.addCookies([{ name: 'host', value, url: kit.provider.origin }]);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('dialog', (dialog) => complaints.push(dialog.message()));
    page.on('request', (request) => {
      if (!request.url().startsWith(kit.provider.origin)) complaints.push(request.url());
    });
    return { page, complaints };
  }

  it('is text on every page: names, addresses, actors, details, answers of endpoints', async () => {
    const kit = await operatorsKit({
      operators: { authenticate: () => ({ name: evil }), pages: operatorsConsole() },
    });
    const { pages, key } = await everyPage(kit);
    const { admin } = kit;
    await admin.as(evil).partners.rename(key.partner, evil);
    await admin.clients.update('app', { name: evil, redirectUris: ["https://app.example/'onload='x"] });
    const [owner] = [{ partner: key.partner, mode: 'test' } as const];
    const { apiKey } = await admin.apiKeys.issue({ ...owner, name: evil, scopes: ['webhooks'] });
    await admin.audit.record({ action: 'user.block', target: evil, details: { [evil]: evil } });
    await kit.endpoint(key, `/"onfocus=alert(1)/<script>`);
    await kit.event(key);
    await kit.attempt({ error: evil.slice(0, 60), httpStatus: 418, response: evil }, 'dropped');
    const { page, complaints } = await watched(kit, 'ana');
    const all = [
      ...pages,
      `/partners/${key.partner}/keys/${apiKey.id}`,
      `/audit?target=${encodeURIComponent(evil)}`,
      `/partners/${key.partner}/webhooks?mode=test&endpoint=${encodeURIComponent(evil)}`,
      `/clients?notice=${encodeURIComponent(evil)}`,
    ];
    for (const path of all) {
      await page.goto(`${kit.provider.origin}/operators${path}`);
      expect.soft([path, await page.locator('main').count()]).toEqual([path, 1]);
      const planted = page.locator('main script, main img, main b, [onerror], [onfocus], [onload]');
      expect.soft([path, await planted.count()]).toEqual([path, 0]);
    }
    const shown = async (path: string) => {
      await page.goto(`${kit.provider.origin}/operators${path}`);
      return page.locator('main').textContent();
    };
    expect(await shown('/partners')).toContain(evil);
    expect(await shown('/clients')).toContain(evil);
    expect(await shown(`/partners/${key.partner}/keys`)).toContain(evil);
    expect(await shown('/audit')).toContain(evil);
    expect(complaints).toEqual([]);
  }, 60_000);

  it('cannot reorder or hide the text around it', async () => {
    const kit = await operatorsKit();
    const action = { action: 'user.block', target: 'user:a\u202egpj\u2066', details: { note: 'x\u202ey' } };
    await kit.admin.as('bob \u2067').audit.record(action);
    const { text } = await kit.browser('ana').get('/operators/audit');
    expect(text).not.toMatch(/[\u202e\u2066\u2067]/);
    expect(text).toContain('user:a\ufffdgpj\ufffd');
  });
});
