import { randomBytes } from 'node:crypto';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import type { PortalRights } from '@ostiary/core/storage';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TestBrowser } from '../../core/test/support/browser.ts';
import { payment, temporaryDatabase } from '../../core/test/support/partner-api.ts';
import { sharingCounts } from '../../core/test/support/shared-counts.ts';
import { csrfOf, followed, operatorsKit, signIn, submit, target } from './console-kit.ts';
import { watchedConsoles } from './page-tables.ts';

const shipped = z.object({ order: z.string() });
const events = { 'order.shipped': { schema: shipped, example: { order: '1' } } };

type Kit = Awaited<ReturnType<typeof portalKit>>;

/** Starts a provider with the portal for live data, and a partner with a live endpoint and a live event. */
async function portalKit(...[options, storage]: Parameters<typeof operatorsKit>) {
  const kit = await operatorsKit({ events, ...options }, storage);
  const live = await kit.provider.key({ mode: 'live' });
  const endpoint = await kit.endpoint(live, '/live');
  await kit.provider.ostiary.events.publish({
    partner: live.partner,
    type: 'order.shipped',
    data: { order: '1' },
  });
  const { events: published } = await kit.storage.events.list({
    ...{ partner: live.partner, mode: 'live', after: 0, limit: 1 },
  });
  const ana = kit.admin.as('ana@example.com');
  return {
    ...kit,
    ...{ live, endpointId: endpoint, eventId: String(published[0]?.id) },
    /** Makes a link to the portal for live data, and returns the link's path. */
    async link(rights: PortalRights, partner = live.partner): Promise<string> {
      return new URL((await ana.portal.link({ partner, rights })).url).pathname;
    },
    /** Opens a browser with a session of the portal for live data. */
    async visitor(rights: PortalRights, partner = live.partner): Promise<TestBrowser> {
      const browser = kit.provider.browser(null);
      expect((await use(browser, await this.link(rights, partner))).status).toBe(303);
      return browser;
    },
    /**
     * Returns the state that the forms of the portal can change: the settings of the partner's endpoints, the
     * number of its deliveries, and the number of entries in the audit log.
     */
    async state() {
      const owner = { partner: live.partner, mode: 'live' } as const;
      const all = { endpointId: null, eventId: null, status: null, after: null, limit: 100 };
      return {
        endpoints: (await kit.storage.webhooks.list(owner)).map(({ enabled, url, version }) => [
          enabled,
          url,
          version,
        ]),
        deliveries: (await kit.storage.deliveries.list({ ...owner, ...all })).length,
        acts: await kit.acts(),
      };
    },
  };
}

/** Opens the page of a link to the portal for live data and presses the page's button. */
async function use(browser: TestBrowser, link: string) {
  const { text } = await browser.get(link);
  return browser.post(link, { csrf: csrfOf(text) });
}

/** Returns the CSRF token for the forms of a session. Every page has at least one form, which signs out. */
const proofOf = async (browser: TestBrowser): Promise<string> => csrfOf((await browser.get('/portal')).text);

const isIn = async (browser: TestBrowser): Promise<boolean> =>
  (await browser.get('/portal')).text.includes('aria-labelledby="endpoints"');

const cookieOf = (browser: TestBrowser): string =>
  /svc_portal=([^;]*)/.exec(browser.cookieHeader('/portal'))?.[1] ?? '';

/** Every form of the portal for live data that changes something. */
const forms = ({
  endpointId: endpoint,
  eventId: event,
}: Kit): readonly (readonly [string, Record<string, string>])[] => [
  ['/portal/endpoints', { url: 'https://receiver.example/new', 'type *': 'on', secret: '' }],
  [`/portal/endpoints/${endpoint}`, { action: 'disable' }],
  [`/portal/endpoints/${endpoint}`, { action: 'recover', since: '2020-01-01T00:00' }],
  [`/portal/endpoints/${endpoint}`, { action: 'remove' }],
  [`/portal/endpoints/${endpoint}/edit`, { url: 'https://receiver.example/other', 'type *': 'on' }],
  [`/portal/endpoints/${endpoint}/secret`, { step: 'generate' }],
  [`/portal/endpoints/${endpoint}/secret`, { step: 'use', secret: 'a secret of the attacker' }],
  [`/portal/events/${event}/redeliver`, {}],
];

/** Pages of the live portal that only sessions with the right `manage` see, because they contain nothing but forms. */
const managed = ['/portal/endpoints', '/portal/endpoints/:id/edit', '/portal/endpoints/:id/secret'];

/** Forms of the live portal that change nothing of the partner. */
const harmless = ['/portal/open/:link', '/portal/sign-out'];

it('every page and form of the live portal is decided for each right, and closed without a session', async () => {
  const tables = watchedConsoles();
  const kit = await portalKit({ console: tables.console });
  const shown = tables.shown().filter((path) => path.startsWith('/portal'));
  const posted = tables.posted().filter((path) => path.startsWith('/portal'));
  const { endpointId: endpoint, eventId: event, storage, live } = kit;
  await kit.attempt({ error: 'status', httpStatus: 500, response: 'x'.repeat(2_000) }, 'dropped');
  const all = { endpointId: null, eventId: null, status: null, after: null, limit: 1 };
  const [delivery] = await storage.deliveries.list({ partner: live.partner, mode: 'live', ...all });
  const paid = await kit.provider.partnerCall(live, 'POST /v1/partner/payments', payment);
  const addresses: Readonly<Record<string, string>> = {
    '/portal/open/:link': await kit.link('view'),
    '/portal/events/:id': `/portal/events/${event}`,
    '/portal/events/:id/redeliver': `/portal/events/${event}/redeliver`,
    '/portal/deliveries/:id/answer': `/portal/deliveries/${delivery?.id}/answer?attempt=1`,
    '/portal/endpoints/:id': `/portal/endpoints/${endpoint}`,
    '/portal/endpoints/:id/edit': `/portal/endpoints/${endpoint}/edit`,
    '/portal/endpoints/:id/secret': `/portal/endpoints/${endpoint}/secret`,
    '/portal/payments/:id': `/portal/payments/${paid.json().id}`,
    '/portal/payment-file': '/portal/payment-file?format=csv&from=2026-01-01&to=2026-01-01',
    '/portal/requests/:id': '/portal/requests/none',
  };
  const addressOf = (path: string): string => addresses[path] ?? path;
  const withForms = new Set(forms(kit).map(([address]) => address));
  for (const path of posted.filter((one) => !harmless.includes(one)))
    expect.soft([path, withForms.has(addressOf(path))]).toEqual([path, true]);
  const missing = ['/portal/requests/:id'];
  for (const rights of ['view', 'manage'] as const) {
    const browser = await kit.visitor(rights);
    for (const path of shown) {
      const isOpen = rights === 'manage' || !managed.includes(path);
      const { status } = await browser.get(addressOf(path));
      const expected = missing.includes(path) ? 404 : isOpen ? 200 : 403;
      expect.soft([rights, path, status]).toEqual([rights, path, expected]);
    }
  }
  const stranger = kit.provider.browser(null);
  const assets = shown.filter((path) => /\.\w+$/.test(path));
  for (const path of shown.filter((one) => !harmless.includes(one) && !assets.includes(one))) {
    const { status, text } = await stranger.get(addressOf(path));
    const isClosed = status === 303 || !text.includes('receiver.example');
    expect.soft([path, isClosed]).toEqual([path, true]);
  }
});

describe('a link to the live portal', () => {
  it('opens it once; reading its page uses nothing', async () => {
    const kit = await portalKit();
    const link = await kit.link('view');
    const acts = await kit.acts();
    const scanner = kit.provider.browser(null);
    await scanner.head(link);
    await scanner.get(link, { 'sec-purpose': 'prefetch' });
    const page = await scanner.get(link);
    expect(page.status).toBe(200);
    expect(page.text).toContain(kit.live.partner);
    expect(page.text).toContain('change nothing');
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.headers.get('referrer-policy')).toBe('strict-origin');
    expect(page.headers.get('cache-control')).toContain('no-store');
    expect(await kit.acts()).toBe(acts);

    const browser = kit.provider.browser(null);
    const opened = await use(browser, link);
    expect([opened.status, target(opened)]).toEqual([303, '/portal']);
    expect(opened.headers.get('referrer-policy')).toBe('strict-origin');
    expect(opened.headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{43};/, '=…;'))).toEqual([
      'svc_portal=…; Max-Age=28800; Path=/portal; HttpOnly; SameSite=Strict',
    ]);
    expect(await isIn(browser)).toBe(true);
    expect(await kit.lastAct()).toMatchObject({
      ...{
        actor: 'portal link of ana@example.com',
        action: 'portal.open',
        target: `partner:${kit.live.partner}`,
      },
    });
    for (const second of [browser, kit.provider.browser(null)]) {
      expect((await second.get(link)).status).toBe(410);
      const csrf = csrfOf(page.text);
      const again = await second.post(link, { csrf });
      expect([again.status, again.headers.getSetCookie()]).toEqual([410, []]);
    }
    expect((await browser.get((await kit.link('view')).replace(/.{4}$/, 'AAAA'))).status).toBe(410);
  });

  it('opens one session for two processes that use it at once', async () => {
    const file = temporaryDatabase();
    const shared = { authUrl: 'https://id.example.com', sealingKeys: [randomBytes(32)], events };
    const first = await portalKit(shared, sqliteStorage({ file }));
    const second = await operatorsKit(shared, sqliteStorage({ file }));
    for (let round = 0; round < 5; round += 1) {
      const link = await first.link('manage');
      const browsers = [first.provider.browser(null), second.provider.browser(null)];
      const tokens = await Promise.all(
        browsers.map(async (browser) => csrfOf((await browser.get(link)).text)),
      );
      const answers = await Promise.all(
        browsers.map((browser, at) => browser.post(link, { csrf: tokens[at] ?? '' })),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 410]);
    }
    expect(await first.admin.portal.list(first.live.partner)).toHaveLength(5);
  });

  it('is refused after 60 attempts in a minute, in all processes together where they share their counts', async () => {
    const storage = sharingCounts(memoryStorage());
    const options = { sealingKeys: [randomBytes(32)] };
    const first = await portalKit(options, storage);
    const second = await operatorsKit(options, storage);
    const link = await first.link('view');
    const csrf = csrfOf((await first.provider.browser(null).get(link)).text);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 61; attempt += 1) {
      const { provider } = attempt % 2 === 0 ? first : second;
      statuses.push((await provider.browser(null).post(link, { csrf })).status);
    }
    expect(statuses).toEqual([303, ...Array(59).fill(410), 429]);
  });

  it('expires after ten minutes, and its session after eight hours', async () => {
    const kit = await portalKit();
    const { clock } = kit.provider;
    const [late, link] = [await kit.link('view'), await kit.link('view')];
    const stranger = kit.provider.browser(null);
    const csrf = csrfOf((await stranger.get(late)).text);
    clock.advance(10 * 60_000 - 1);
    const browser = kit.provider.browser(null);
    expect((await use(browser, link)).status).toBe(303);
    clock.advance(1);
    expect((await stranger.get(late)).status).toBe(410);
    expect((await stranger.post(late, { csrf })).status).toBe(410);
    clock.advance(8 * 3_600_000 - 2);
    expect(await isIn(browser)).toBe(true);
    clock.advance(1);
    const over = await browser.get('/portal');
    expect(over.text).toContain('Your session is over.');
    expect(over.headers.getSetCookie()[0]).toContain('svc_portal=; Expires=');
  });

  it('is stored as a digest, and neither logged nor on another page', async () => {
    const storage = memoryStorage();
    const rows: string[] = [];
    const { insert, open } = storage.portal;
    const row = (given: object) =>
      JSON.stringify(given, (_, value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : value,
      );
    Object.assign(storage.portal, {
      insert: (...given: Parameters<typeof insert>) => {
        rows.push(row(given));
        return insert(...given);
      },
      open: (...given: Parameters<typeof open>) => {
        rows.push(row(given));
        return open(...given);
      },
    });
    const kit = await portalKit({}, storage);
    const link = await kit.link('manage');
    const browser = kit.provider.browser(null);
    await use(browser, link);
    const secret = link.split('/').at(-1) ?? '';
    expect(rows).toHaveLength(2);
    const pages = await Promise.all(['/portal', '/operators/audit'].map((path) => browser.get(path)));
    const all = [...rows, JSON.stringify(kit.provider.logged), ...pages.map(({ text }) => text)].join('\n');
    for (const kept of [secret, cookieOf(browser)]) expect(all).not.toContain(kept);
  });

  it('is refused for a form of another site, of another link, or without its token', async () => {
    const kit = await portalKit();
    const [link, other] = [await kit.link('manage'), await kit.link('manage')];
    const browser = kit.provider.browser(null);
    const csrf = csrfOf((await browser.get(link)).text);
    const strange = csrfOf((await browser.get(other)).text);
    const attacks: (readonly [Record<string, string>, Record<string, string>])[] = [
      [{}, {}],
      [{ csrf: strange }, {}],
      [{ csrf }, { origin: 'https://evil.example' }],
      [{ csrf }, { origin: 'null', 'sec-fetch-site': 'cross-site' }],
      [{ csrf }, { 'sec-fetch-site': 'same-site' }],
    ];
    for (const [form, headers] of attacks) {
      const answer = await browser.post(link, form, headers);
      expect.soft([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
    expect((await browser.post(link, { csrf })).status).toBe(303);
  });

  it('exists for an enabled partner and a console with a portal only', async () => {
    const kit = await portalKit();
    const ask = (request: object) => kit.admin.portal.link(request as never);
    await expect(ask({ partner: 'nobody', rights: 'view' })).rejects.toMatchObject({
      code: 'partner_not_found',
    });
    await expect(ask({ partner: kit.live.partner, rights: 'own' })).rejects.toThrow(/rights/);
    await kit.admin.partners.disable(kit.live.partner);
    await expect(ask({ partner: kit.live.partner, rights: 'view' })).rejects.toMatchObject({
      code: 'partner_disabled',
    });
    const { sandboxConsole } = await import('../src/index.ts');
    const { portal: _, ...without } = sandboxConsole();
    const closed = await operatorsKit({ console: without });
    const key = await closed.key();
    await expect(closed.admin.portal.link({ partner: key.partner, rights: 'view' })).rejects.toThrow(
      /console/,
    );
    expect((await closed.provider.browser(null).get('/portal')).status).toBe(404);
    expect((await closed.browser('ana').get(`/operators/partners/${key.partner}`)).text).not.toContain(
      'portal_link',
    );
  });
});

describe('a session of the live portal', () => {
  it.each([
    [16_383, 'What it answered (16,383 bytes)'],
    [16_384, 'What it answered (the first 16,384 bytes)'],
  ])('reads of a response whose first %s bytes are stored: %s', async (bytes, title) => {
    const kit = await portalKit();
    await kit.attempt({ response: 'x'.repeat(bytes) });
    const browser = await kit.visitor('view');
    expect((await browser.get(`/portal/events/${kit.eventId}`)).text).toContain(title);
  });

  it('sees the live data of its partner and nothing else, with a mark on every page', async () => {
    const kit = await portalKit();
    const test = await kit.provider.key({ mode: 'test', partner: kit.live.partner });
    const other = await kit.provider.key({ mode: 'live' });
    const hidden = [await kit.endpoint(test, '/of-test'), await kit.endpoint(other, '/of-another')];
    const testEvent = await kit.event(test);
    await kit.attempt({ httpStatus: 500, error: 'status', response: 'of the live endpoint' }, 'dropped', 1);
    const browser = await kit.visitor('view');
    const [first, event, endpoint] = await Promise.all(
      ['', `/events/${kit.eventId}`, `/endpoints/${kit.endpointId}`].map((path) =>
        browser.get(`/portal${path}`),
      ),
    );
    const text = first?.text ?? '';
    expect(text).toContain('/live');
    expect(text).toContain('order.shipped');
    for (const part of ['/of-test', '/of-another', testEvent]) expect(text).not.toContain(part);
    for (const page of [first, event, endpoint]) {
      expect(page?.text).toContain('<aside class="mark" aria-label="Live or test data">Live data.');
      expect(page?.text).not.toContain('What was sent');
    }
    for (const id of hidden) expect((await browser.get(`/portal/endpoints/${id}`)).status).toBe(404);
    expect((await browser.get(`/portal/events/${testEvent}`)).status).toBe(404);
    // Tools for tests, and places to type a key, do not exist.
    for (const path of [
      '/tools',
      '/trigger',
      '/inboxes',
      '/sign-in',
      '/first-run',
      '/tools/payment',
      '/button',
    ])
      for (const answer of [await browser.get(`/portal${path}`), await browser.post(`/portal${path}`, {})])
        expect.soft([path, answer.status]).toEqual([path, 404]);
  });

  it('with the right to view has no forms, and its posts are refused', async () => {
    const kit = await portalKit();
    const browser = await kit.visitor('view');
    const csrf = await proofOf(browser);
    const before = await kit.state();
    for (const path of ['', `/events/${kit.eventId}`, `/endpoints/${kit.endpointId}`]) {
      const { text } = await browser.get(`/portal${path}`);
      const posts = [...text.matchAll(/<form[^>]*method="post" action="([^"]*)"/g)].map(([, to = '']) => to);
      expect.soft([path, posts.map((to) => new URL(to).pathname)]).toEqual([path, ['/portal/sign-out']]);
      expect.soft(text).not.toContain('formaction');
    }
    for (const [path, form] of forms(kit)) {
      expect.soft([path, (await browser.post(path, { csrf, ...form })).status]).toEqual([path, 403]);
      const query = new URLSearchParams({ csrf, ...form });
      expect.soft([path, (await browser.get(`${path}?${query}`)).status === 303]).toEqual([path, false]);
    }
    for (const path of [
      '/endpoints',
      `/endpoints/${kit.endpointId}/edit`,
      `/endpoints/${kit.endpointId}/secret`,
    ])
      expect.soft([path, (await browser.get(`/portal${path}`)).status]).toEqual([path, 403]);
    expect(await kit.state()).toEqual(before);
    expect((await browser.post('/portal/sign-out', { csrf })).status).toBe(303);
    expect(await isIn(browser)).toBe(false);
  });

  it('with the right to manage changes endpoints and delivers again, and each act is in the audit log', async () => {
    const kit = await portalKit();
    await kit.attempt({ httpStatus: 500, error: 'status' }, 'dropped');
    const browser = await kit.visitor('manage');
    const csrf = await proofOf(browser);
    const send = async (path: string, form: Record<string, string>) => {
      const answer = await browser.post(path, { csrf, ...form });
      expect([path, form, answer.status]).toEqual([path, form, 303]);
      return answer;
    };
    const [, , , remove, edit, generate, replace, redeliver] = forms(kit);
    const at = `/portal/endpoints/${kit.endpointId}`;
    const from = await kit.acts();
    const added = await send('/portal/endpoints', {
      url: 'https://receiver.example/new',
      'type *': 'on',
      secret: '',
    });
    expect((await browser.get(target(added) ?? '')).text).toMatch(/<code data-once>whsec_/);
    await send(...(edit ?? ['', {}]));
    await send(...(generate ?? ['', {}]));
    await send(...(replace ?? ['', {}]));
    await send(at, { action: 'recover', since: '2020-01-01T00:00' });
    await send(at, { action: 'disable' });
    await send(at, { action: 'enable' });
    await send(...(redeliver ?? ['', {}]));
    await send(...(remove ?? ['', {}]));
    const acts = await kit.storage.audit.chain({ after: from, limit: 100 });
    expect(acts.map(({ action }) => action)).toEqual([
      ...[
        'endpoint.create',
        'endpoint.update',
        'endpoint.rotate_secret',
        'endpoint.recover',
        'endpoint.disable',
      ],
      ...['endpoint.enable', 'event.redeliver', 'endpoint.remove'],
    ]);
    expect(new Set(acts.map(({ actor }) => actor))).toEqual(new Set(['portal link of ana@example.com']));
    expect(acts[1]?.details).toMatchObject({
      ...{ partner: kit.live.partner, mode: 'live', url: 'https://receiver.example/other' },
      before: { url: 'https://receiver.example/live' },
    });
    expect(JSON.stringify(acts)).not.toMatch(/whsec_|of the attacker/);
    expect((await kit.admin.audit.verify()).ok).toBe(true);
    // A live endpoint is never an inbox of the service.
    const inbox = { csrf, url: 'inbox:200', 'type *': 'on', secret: '' };
    expect((await browser.post('/portal/endpoints', inbox)).status).toBe(400);
  });

  it('refuses forms without its token, with that of another session, and of other sites', async () => {
    const kit = await portalKit();
    const browser = await kit.visitor('manage');
    const genuine = await proofOf(browser);
    const [another, tests] = [await kit.visitor('manage'), kit.provider.browser(null)];
    await signIn(tests, (await kit.provider.key({ mode: 'test', partner: kit.live.partner })).key);
    const strange = [await proofOf(another), csrfOf((await tests.get('/sandbox')).text), '', `${genuine}x`];
    const before = await kit.state();
    for (const [path, form] of forms(kit)) {
      for (const csrf of strange)
        expect.soft([path, (await browser.post(path, { ...form, csrf })).status]).toEqual([path, 403]);
      const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect.soft((await browser.post(path, { ...form, csrf: genuine }, headers)).status).toBe(403);
    }
    expect(await kit.state()).toEqual(before);
  });

  it('is opened by no other secret: planted, of a link, of the test session, or an id', async () => {
    const kit = await portalKit();
    const unused = (await kit.link('manage')).split('/').at(-1) ?? '';
    const tests = kit.provider.browser(null);
    await signIn(tests, (await kit.provider.key({ mode: 'test', partner: kit.live.partner })).key);
    const ofTests = /svc_sandbox=([^;]*)/.exec(tests.cookieHeader('/sandbox'))?.[1] ?? '';
    const visitor = await kit.visitor('manage');
    const [{ id = '' } = {}] = await kit.admin.portal.list(kit.live.partner);
    for (const value of [ofTests, unused, id, kit.live.key, 'planted', '']) {
      const browser = kit.provider.browser(null);
      browser.setCookie('svc_portal', value, '/portal');
      expect.soft([value, await isIn(browser)]).toEqual([value, false]);
    }
    const crossed = kit.provider.browser(null);
    crossed.setCookie('svc_sandbox', cookieOf(visitor), '/sandbox');
    expect((await crossed.get('/sandbox/endpoints')).status).toBe(303);
    // The session of a link is new: a planted cookie does not become one.
    const victim = kit.provider.browser(null);
    victim.setCookie('svc_portal', 'planted', '/portal');
    await use(victim, await kit.link('view'));
    expect(cookieOf(victim)).toMatch(/^[\w-]{43}$/);
  });

  it('ends with the next request after an operator ended it, or disabled the partner, for good', async () => {
    const kit = await portalKit();
    const { partner } = kit.live;
    const { portal } = kit.admin.as('bob');
    const ended = await kit.visitor('manage');
    const [session] = await portal.list(partner);
    expect(session).toMatchObject({
      rights: 'manage',
      madeBy: 'ana@example.com',
      openedAt: expect.any(String),
    });
    const other = await kit.key();
    await expect(portal.end(other.partner, session?.id ?? '')).rejects.toMatchObject({
      code: 'portal_session_not_found',
    });
    expect(await isIn(ended)).toBe(true);
    const csrf = await proofOf(ended);
    await portal.end(partner, session?.id ?? '');
    const posted = await ended.post(`/portal/events/${kit.eventId}/redeliver`, { csrf });
    expect(target(posted)).toBe('/portal?notice=ended');
    await expect(portal.end(partner, session?.id ?? '')).rejects.toMatchObject({ name: 'PortalError' });

    const [disabled, link] = [await kit.visitor('view'), await kit.link('view')];
    await kit.admin.partners.disable(partner);
    expect(await isIn(disabled)).toBe(false);
    expect((await disabled.get(link)).status).toBe(410);
    await kit.admin.partners.enable(partner);
    expect((await disabled.get(link)).status).toBe(410);
    expect(await portal.list(partner)).toEqual([]);
  });

  it('shows requests with live keys only by option, and without bodies', async () => {
    for (const [requestLog, isShown] of [
      ['test', false],
      ['all', true],
    ] as const) {
      const kit = await portalKit({ requestLog });
      const asked = await kit.provider.partnerCall(kit.live, 'GET /v1/partner/webhooks');
      const id = asked.headers.get('x-request-id') ?? '';
      const browser = await kit.visitor('view');
      const { text } = await browser.get('/portal');
      expect(text.includes('/portal/requests"')).toBe(isShown);
      await expect
        .poll(async () => (await browser.get(`/portal/requests/${id}`)).status)
        .toBe(isShown ? 200 : 404);
      if (isShown)
        expect((await browser.get(`/portal/requests/${id}`)).text).toContain('Bodies of live requests');
    }
  });
});

describe('the way into the live portal', () => {
  it('is never a key: the sign-in says where a link comes from', async () => {
    const kit = await portalKit();
    const browser = kit.provider.browser(null);
    const refused = await signIn(browser, kit.live.key);
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, []]);
    expect(refused.text).toContain('Live data opens with a link that');
    const closed = await browser.get('/portal');
    expect(closed.text).toContain('Live data opens with a link, never with a key.');
    expect(closed.text).not.toContain('<input');
  });

  it('is a button of operators: the link is shown once, and whoever used it can be seen and ended', async () => {
    const kit = await portalKit();
    const page = `/partners/${kit.live.partner}`;
    const bob = kit.browser('bob');
    const made = await submit(bob, page, { act: 'portal_link', rights: 'manage' });
    expect([made.status, made.text]).toEqual([303, '']);
    expect(await kit.lastAct()).toMatchObject({
      actor: 'bob',
      action: 'portal.link',
      details: { rights: 'manage' },
    });
    const shown = (await bob.get(target(made) ?? '')).text;
    const [, url = ''] = /<code data-once>([^<]+)<\/code>/.exec(shown) ?? [];
    expect(url).toMatch(/^http.*\/portal\/open\/[\w-]{43}$/);
    expect((await bob.get(target(made) ?? '')).text).not.toContain(url);
    expect((await bob.get(`/operators${page}`)).text).toContain('Not used yet');

    const visitor = kit.provider.browser(null);
    await use(visitor, new URL(url).pathname);
    const { text } = await bob.get(`/operators${page}`);
    expect(text).not.toContain('Not used yet');
    const [, session = ''] = /name="session" value="(ps_\w+)"/.exec(text) ?? [];
    const viewer = kit.browser('eve', { may: ['webhooks'] });
    const seen = (await viewer.get(`/operators${page}`)).text;
    expect([seen.includes(session), seen.includes('value="end_portal"')]).toEqual([true, false]);
    for (const form of [
      { act: 'end_portal', session },
      { act: 'portal_link', rights: 'view' },
    ])
      expect((await submit(viewer, page, form)).status).toBe(403);
    const elsewhere = await kit.key();
    expect((await submit(bob, `/partners/${elsewhere.partner}`, { act: 'end_portal', session })).status).toBe(
      404,
    );
    expect(await isIn(visitor)).toBe(true);
    expect((await followed(bob, page, { act: 'end_portal', session })).text).toContain(
      'The access is ended.',
    );
    expect(await isIn(visitor)).toBe(false);
    await expect(
      kit.admin.as('x', { may: ['webhooks'] }).portal.link({ partner: kit.live.partner, rights: 'view' }),
    ).rejects.toMatchObject({ status: 403 });
  });
});
