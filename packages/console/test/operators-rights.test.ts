import { type OperatorRight, operatorRoles } from '@ostiary/core';
import { describe, expect, it } from 'vitest';
import type { TestBrowser } from '../../core/test/support/browser.ts';
import { testPayment } from '../../core/test/support/partner-api.ts';
import { csrfOf, type OperatorsKit, operatorsKit, submit } from './console-kit.ts';
import { watchedConsoles } from './page-tables.ts';
import { logRequests } from './size-kit.ts';

const roles = Object.keys(operatorRoles) as (keyof typeof operatorRoles)[];

/** Rights that the forms of the operators' pages need. Pages in `hidden` also need them to be seen. */
const needed: { readonly [path: string]: OperatorRight } = {
  '/operators/partners': 'partners',
  '/operators/partners/:slug': 'partners',
  '/operators/partners/:slug/keys': 'keys',
  '/operators/partners/:slug/keys/:id': 'keys',
  '/operators/partners/:slug/webhooks': 'webhooks',
  '/operators/partners/:slug/webhooks/:id': 'webhooks',
  '/operators/partners/:slug/payments': 'payments',
  '/operators/partners/:slug/payments/:id': 'payments',
  '/operators/partners/:slug/payment-file': 'payments',
  '/operators/payments': 'payments',
  '/operators/new-client': 'clients',
  '/operators/clients/:id': 'clients',
  '/operators/users': 'users',
  '/operators/user': 'users',
  '/operators/signing-keys': 'service',
  '/operators/upkeep': 'service',
};
const hidden = [
  ...['/operators/new-client', '/operators/users', '/operators/user', '/operators/upkeep'],
  ...['/operators/partners/:slug/payments', '/operators/partners/:slug/payments/:id'],
  ...['/operators/partners/:slug/payment-file', '/operators/payments'],
];

/** Routes that every operator may open: their forms change nothing, and they do not show who was paid. */
const open = [
  ...['/operators', '/operators/search', '/operators/clients', '/operators/keys', '/operators/audit'],
  ...['/operators/partners/:slug/requests/:id', '/operators/partners/:slug/reconciliation'],
  ...['/operators/script.js', '/operators/style.css'],
  ...['/operators/failing', '/operators/endpoints', '/operators/events', '/operators/requests'],
];

/** Operators' pages whose form changes nothing. */
const harmless = ['/operators/audit'];

/**
 * Starts a provider with one object of each kind. Returns the routes of all operators' pages, with a function
 * that returns the URL of an existing page for a route.
 */
async function everything() {
  const tables = watchedConsoles();
  const operators = new Map<string, (typeof roles)[number]>();
  const kit = await operatorsKit({
    operators: {
      authenticate: ({ headers }) => {
        const role = operators.get(/(?:^|; )host=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? '');
        return role === undefined ? null : { name: `${role}@example.com`, role, may: operatorRoles[role] };
      },
      pages: tables.pages,
    },
  });
  const key = await kit.key();
  const endpoint = await kit.endpoint(key);
  await kit.provider.client({ clientId: 'app' });
  await kit.event(key);
  await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
  await logRequests(kit.storage, key, 1);
  const paid = await kit.provider.partnerCall(key, 'POST /v1/partner/payments', testPayment, {
    'Idempotency-Key': 'rights',
  });
  const addressOf = (path: string): string =>
    path
      .replace(':slug', key.partner)
      .replace('keys/:id', `keys/${key.id}`)
      .replace(/webhooks$/, 'webhooks?mode=test')
      .replace('webhooks/:id', `webhooks/${endpoint}?mode=test`)
      .replace('requests/:id', 'requests/request-0?mode=test')
      .replace(/payment-file$/, 'payment-file?format=csv&from=2026-01-01&to=2026-01-01')
      .replace('payments/:id', `payments/${paid.json().id}?mode=test`)
      .replace('clients/:id', 'clients/app')
      .replace(/user$/, 'user?sub=u-1');
  const browserOf = (role: (typeof roles)[number]): TestBrowser => {
    const browser = kit.browser();
    operators.set(browser.name, role);
    return browser;
  };
  const shown = tables.shown().filter((path) => path.startsWith('/operators'));
  return { kit, key, endpoint, addressOf, browserOf, shown, posted: tables.posted() };
}

const withPost = (paths: readonly string[]): string[] =>
  paths.filter((path) => path.startsWith('/operators') && !harmless.includes(path));

describe('the roles of operators', () => {
  it('every page with a form names the right that the form needs', async () => {
    const { posted } = await everything();
    for (const path of withPost(posted)) expect.soft([path, needed[path]]).not.toEqual([path, undefined]);
  });

  it('every page names the right that it needs, or is open to every operator', async () => {
    const { shown } = await everything();
    const decided = [...Object.keys(needed), ...open];
    expect(shown.toSorted()).toEqual(decided.toSorted());
  });

  it('decide about every route and method', async () => {
    const { kit, addressOf, browserOf, shown, posted } = await everything();
    const acts = await kit.acts();
    for (const role of roles) {
      const browser = browserOf(role);
      // The audit log is open to every role, and has a token for the forms of this operator.
      const csrf = csrfOf((await browser.get('/operators/audit')).text);
      const mayDo = (path: string) => {
        const right = needed[path];
        return right === undefined || operatorRoles[role].includes(right);
      };
      for (const path of shown) {
        const address = addressOf(path);
        const isSeen = !hidden.includes(path) || mayDo(path);
        const got = await browser.get(address);
        expect.soft([role, 'GET', path, got.status]).toEqual([role, 'GET', path, isSeen ? 200 : 403]);
        if (!posted.includes(path)) continue;
        // An unknown act of someone who may act is 400, so that nothing is changed.
        const status = mayDo(path) ? 400 : 403;
        const answer = await browser.post(address, { csrf, act: 'explode', slug: '?', clientId: '?' });
        expect.soft([role, 'POST', path, answer.status]).toEqual([role, 'POST', path, status]);
        const forms = /<form[^>]*method="post"/.test(got.text);
        if (!harmless.includes(path))
          expect.soft([role, path, 'forms', forms]).toEqual([role, path, 'forms', mayDo(path)]);
      }
    }
    expect(await kit.acts()).toBe(acts);
  });

  it('say on the page why they refuse, in the reader’s language', async () => {
    const { browserOf } = await everything();
    const browser = browserOf('viewer');
    const headers = { 'accept-language': 'fr' };
    const { status, text } = await browser.get('/operators/upkeep', headers);
    expect([status, text.includes('Vous n’avez pas ce droit')]).toEqual([403, true]);
  });

  it('leave out of the navigation what they may not see', async () => {
    const { browserOf } = await everything();
    const seen = async (role: (typeof roles)[number]) => {
      const { text } = await browserOf(role).get('/operators');
      return ['users', 'payments', 'upkeep'].filter((section) => text.includes(`/operators/${section}"`));
    };
    expect(await seen('viewer')).toEqual([]);
    expect(await seen('support')).toEqual(['users', 'payments']);
    expect(await seen('owner')).toEqual(['users', 'payments', 'upkeep']);
  });

  it('are in the audit log with each act', async () => {
    const { kit, key, browserOf } = await everything();
    await submit(browserOf('admin'), `/partners/${key.partner}`, { act: 'disable' });
    expect(await kit.lastAct()).toMatchObject({
      ...{ actor: 'admin@example.com', role: 'admin', action: 'partner.disable' },
    });
    const { text } = await browserOf('viewer').get('/operators/audit');
    expect(text).toContain('admin@example.com (admin)');
  });
});

describe('an administration with fewer rights', () => {
  const calls: {
    readonly [right in OperatorRight]: readonly ((
      kit: OperatorsKit,
      may: readonly OperatorRight[],
    ) => Promise<unknown>)[];
  } = {
    partners: [
      (kit, may) => kit.admin.as('x', { may }).partners.create({ slug: 'new', name: 'New' }),
      (kit, may) => kit.admin.as('x', { may }).partners.rename('kafe', 'New'),
      (kit, may) => kit.admin.as('x', { may }).partners.disable('kafe'),
      (kit, may) => kit.admin.as('x', { may }).partners.enable('kafe'),
    ],
    keys: [
      (kit, may) =>
        kit.admin.as('x', { may }).apiKeys.issue({ partner: 'kafe', mode: 'test', scopes: ['webhooks'] }),
    ],
    clients: [
      (kit, may) => kit.admin.as('x', { may }).clients.update('app', { name: 'New' }),
      (kit, may) => kit.admin.as('x', { may }).clients.rotateSecret('app', { overlapSeconds: 0 }),
      (kit, may) => kit.admin.as('x', { may }).clients.disable('app'),
      (kit, may) => kit.admin.as('x', { may }).clients.enable('app'),
    ],
    webhooks: [],
    payments: [],
    users: [(kit, may) => kit.admin.as('x', { may }).users.end('u-1')],
    service: [
      (kit, may) => kit.admin.as('x', { may }).signingKeys.rotate({ alg: 'ES256', activateAfterSeconds: 0 }),
      (kit, may) => kit.admin.as('x', { may }).purge(),
      (kit, may) => kit.admin.as('x', { may }).reseal(),
    ],
  };

  it('refuses every change outside of them, and changes nothing', async () => {
    const kit = await operatorsKit();
    await kit.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    await kit.provider.client({ clientId: 'app' });
    const all = Object.keys(calls) as OperatorRight[];
    for (const right of all) {
      const others = all.filter((other) => other !== right);
      for (const call of calls[right]) {
        const acts = await kit.acts();
        await expect.soft(call(kit, others)).rejects.toMatchObject({ name: 'OAuthError', status: 403 });
        expect.soft([right, await kit.acts()]).toEqual([right, acts]);
        await call(kit, [right]);
        expect.soft([right, await kit.acts()]).toEqual([right, acts + 1]);
      }
    }
  });

  it('never gets back a right, and reads everything', async () => {
    const kit = await operatorsKit();
    const viewer = kit.admin.as('v', { may: [] });
    await expect(viewer.as('o', { may: operatorRoles.owner }).purge()).rejects.toMatchObject({ status: 403 });
    expect((await viewer.partners.list()).partners).toEqual([]);
    expect(await viewer.portal.list('kafe')).toEqual([]);
    expect((await viewer.audit.verify()).ok).toBe(true);
    expect(() => kit.admin.as('x', { may: ['everything' as never] })).toThrow(TypeError);
    expect(() => kit.admin.as('x', { role: '' })).toThrow(TypeError);
  });
});

describe('an act that cannot be undone', () => {
  it('waits until the operator has confirmed the sign-in, and others do not', async () => {
    const kit = await operatorsKit();
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    await kit.provider.client({ clientId: 'app' });
    const stale = kit.browser('ana', { confirmAt: '/staff/login?again=1' });
    const acts = await kit.acts();
    const csrf = csrfOf((await stale.get('/operators/audit')).text);
    const confirm = `${kit.provider.origin}/staff/login?again=1`;
    for (const [path, form] of [
      [`/operators/partners/${key.partner}/keys/${key.id}`, { act: 'roll', overlapSeconds: '0' }],
      [`/operators/partners/${key.partner}/webhooks/${endpoint}?mode=test`, { act: 'remove' }],
      ['/operators/clients/app', { act: 'disable' }],
      ['/operators/user?sub=u-1', { act: 'end' }],
    ] as const) {
      expect.soft((await stale.get(path)).text).toContain(`<a href="${confirm}">Sign in again</a>`);
      const { status, headers } = await stale.post(path, { csrf, ...form });
      expect.soft([path, status, headers.get('location')]).toEqual([path, 303, confirm]);
    }
    expect(await kit.acts()).toBe(acts);
    expect((await submit(stale, '/partners', { act: 'create', slug: 'new', name: 'New' })).status).toBe(303);
    expect((await submit(kit.browser('ana'), '/clients/app', { act: 'disable' })).status).toBe(303);
  });
});

describe('the page of a user', () => {
  it('lists the connected apps', async () => {
    const kit = await operatorsKit();
    const client = await kit.provider.client({ clientId: 'app', name: 'Rara <b>' });
    const token = await kit.provider.token(client);
    const sub = String((await kit.provider.userinfo(token)).json().sub);
    const { text } = await kit.browser('ana').get(`/operators/user?sub=${encodeURIComponent(sub)}`);
    expect(text).toContain('Rara &lt;b&gt;</bdi></a>');
    expect(text).not.toContain('<b>');
  });

  it('shows the users of the host, and acts on them in the name of the operator', async () => {
    const { operatorsConsole } = await import('../src/index.ts');
    const done: unknown[] = [];
    const ana = { sub: 'u/1?', name: 'Ana <i>', handle: 'ana', phone: '+50937000001', blockedAt: null };
    const users = {
      search: async ({ text, after }: { text: string; after: string | null }) => {
        done.push(['search', text, after]);
        return { users: [{ ...ana, kyc: { kycStatus: 'pending', kycTier: 1 } as const }], next: 'u/1?' };
      },
      find: async (sub: string) => (sub === ana.sub ? { ...ana, sessions: 2 } : null),
      block: async (sub: string) => void done.push(['block', sub]),
    };
    const kit = await operatorsKit({
      operators: { authenticate: () => ({ name: 'bob' }), pages: operatorsConsole({ users }) },
    });
    const browser = kit.browser('bob');
    const { text } = await browser.get('/operators/users?q=%20an&after=x');
    expect(done).toEqual([['search', 'an', 'x']]);
    expect(text).toContain('/operators/user?sub=u%2F1%3F"');
    expect(text).toContain('after=u%2F1%3F');
    const page = '/user?sub=u%2F1%3F';
    const shown = await browser.get(`/operators${page}`);
    expect(shown.text).toContain('Ana &lt;i&gt;');
    expect(shown.text).not.toContain('value="end_sessions"');
    expect((await submit(browser, page, { act: 'end_sessions' })).status).toBe(400);
    expect((await submit(browser, page, { act: 'block' })).status).toBe(303);
    expect(done.at(-1)).toEqual(['block', 'u/1?']);
    expect((await browser.get('/operators/user?sub=nobody')).status).toBe(404);
  });
});
