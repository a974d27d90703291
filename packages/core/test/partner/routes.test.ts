import { beforeAll, describe, expect, it } from 'vitest';
import { keyScopes } from '../../src/admin.ts';
import { events } from '../../src/index.ts';
import type { LimitGroup } from '../../src/limits.ts';
import { partnerRoutes } from '../../src/partner/routes.ts';
import { errorSchema } from '../../src/partner/schemas.ts';
import type { KeyScope, Mode } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { TestRail, testPayment } from '../support/partner-api.ts';
import { type TestKey, TestProvider } from '../support/provider.ts';
import { blamed } from './refusal.ts';

/** What a request of a route needs. */
interface Subject {
  readonly passport: string;
  readonly transfer: string;
  readonly event: string;
  readonly endpoint: string;
  /** Endpoints that may be removed. */
  readonly spare: string[];
}

/** A row of the contract: what it says, and a request that succeeds. */
interface Row {
  readonly scope: KeyScope | null;
  readonly limit: LimitGroup;
  readonly status: number;
  /** What the same request gets with a live key, for which nothing of the sandbox exists. */
  readonly live: number;
  readonly path?: (subject: Subject) => string;
  readonly body?: (subject: Subject) => object;
}

const endpoint = { url: 'http://127.0.0.1:1/hook', events: ['*'], secret: 'whsec_0123456789abcdef' };

/** The contract, written down a second time: the specification's table, and the rows that were decided later. */
const contract: { readonly [target: string]: Row } = {
  'POST /v1/partner/verify': {
    scope: 'identity:verify',
    limit: 'verify',
    status: 200,
    live: 400,
    body: ({ passport }) => ({ token: passport }),
  },
  'POST /v1/partner/payments': {
    scope: 'payments:write',
    limit: 'payments',
    status: 201,
    live: 404,
    body: () => ({ ...testPayment, description: 'Rent', metadata: { till: '4' } }),
  },
  'GET /v1/partner/payments': { scope: 'payments:read', limit: 'other', status: 200, live: 200 },
  'GET /v1/partner/payments/:id': {
    scope: 'payments:read',
    limit: 'other',
    status: 200,
    live: 404,
    path: ({ transfer }) => `/v1/partner/payments/${transfer}`,
  },
  'GET /v1/partner/users/phone/:phone': {
    scope: 'users:read',
    limit: 'users',
    status: 200,
    live: 404,
    path: () => '/v1/partner/users/phone/+50900000001',
  },
  'GET /v1/partner/users/:kid': {
    scope: 'users:read',
    limit: 'users',
    status: 200,
    live: 404,
    path: () => '/v1/partner/users/KID-TEST-APPROVED',
  },
  'GET /v1/partner/reconciliation': {
    scope: 'reconciliation:read',
    limit: 'reconciliation',
    status: 200,
    live: 200,
    path: () => `/v1/partner/reconciliation?date=${new Date().toISOString().slice(0, 10)}`,
  },
  'POST /v1/partner/webhooks': {
    scope: 'webhooks',
    limit: 'other',
    status: 201,
    live: 201,
    body: () => endpoint,
  },
  'GET /v1/partner/webhooks': { scope: 'webhooks', limit: 'other', status: 200, live: 200 },
  'GET /v1/partner/webhooks/:id': {
    scope: 'webhooks',
    limit: 'other',
    status: 200,
    live: 404,
    path: (known) => `/v1/partner/webhooks/${known.endpoint}`,
  },
  'PATCH /v1/partner/webhooks/:id': {
    scope: 'webhooks',
    limit: 'other',
    status: 200,
    live: 404,
    path: (known) => `/v1/partner/webhooks/${known.endpoint}`,
    body: () => ({ events: ['payment.completed'] }),
  },
  'DELETE /v1/partner/webhooks/:id': {
    scope: 'webhooks',
    limit: 'other',
    status: 200,
    live: 404,
    path: ({ spare }) => `/v1/partner/webhooks/${spare.pop()}`,
  },
  'GET /v1/partner/webhooks/:id/deliveries': {
    scope: 'webhooks',
    limit: 'other',
    status: 200,
    live: 404,
    path: (known) => `/v1/partner/webhooks/${known.endpoint}/deliveries`,
  },
  'POST /v1/partner/webhooks/:id/recover': {
    scope: 'webhooks',
    limit: 'other',
    status: 200,
    live: 404,
    path: (known) => `/v1/partner/webhooks/${known.endpoint}/recover`,
    body: () => ({ since: '2026-01-01T00:00:00Z' }),
  },
  'GET /v1/partner/events': { scope: 'webhooks', limit: 'other', status: 200, live: 200 },
  'POST /v1/partner/events/:id/redeliver': {
    scope: 'webhooks',
    limit: 'other',
    status: 200,
    live: 404,
    path: ({ event }) => `/v1/partner/events/${event}/redeliver`,
    body: () => ({}),
  },
  'POST /v1/partner/sandbox/events': {
    scope: 'webhooks',
    limit: 'other',
    status: 201,
    live: 404,
    body: () => ({ type: 'kyc.updated' }),
  },
  'POST /v1/partner/sandbox/passports': {
    scope: 'identity:verify',
    limit: 'other',
    status: 201,
    live: 404,
    body: () => ({}),
  },
  'GET /v1/partner/whoami': { scope: null, limit: 'other', status: 200, live: 200 },
};

/** The limits of the specification. */
const limits = { verify: 60, payments: 120, users: 300, reconciliation: 10, other: 200, console: 600 };

const never: unknown = new Proxy(() => {}, { get: () => never, apply: () => never });
const table = new Map(
  partnerRoutes({
    core: never,
    passports: never,
    users: never,
    webhooks: { catalogue: { types: Object.keys(events) } },
  } as never).map((route) => [`${route.method} ${route.path}`, route]),
);

let provider: TestProvider;
let partner: string;
let subject: Subject;

const newKey = (scopes: readonly KeyScope[], mode: Mode = 'test'): Promise<TestKey> =>
  provider.key({ partner, scopes, mode });

beforeAll(async () => {
  provider = await TestProvider.start({
    payments: new TestRail(),
    webhooks: { allowPrivateTargets: true },
  });
  partner = await provider.partner();
  const key = await newKey(keyScopes);
  const pay = async (amount: string) =>
    (await provider.partnerCall(key, 'POST /v1/partner/payments', { ...testPayment, amount })).json();
  // One of every status, so that every part of an answer is seen.
  const [{ id }] = [await pay('1.00'), await pay('1.01'), await pay('1.02')];
  const register = async () =>
    String((await provider.partnerCall(key, 'POST /v1/partner/webhooks', endpoint)).json().id);
  const registered = await register();
  const event = await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' });
  while ((await provider.ostiary.worker.runDue()) > 0);
  const minted = await provider.partnerCall(key, 'POST /v1/partner/sandbox/passports', {});
  subject = {
    passport: String(minted.json().token),
    transfer: String(id),
    event: String(event.json().id),
    endpoint: registered,
    spare: await Promise.all(Array.from({ length: 20 }, register)),
  };
  return () => provider.stop();
});

const rows = Object.entries(contract);

/** The good request of a row, with changes. */
function send(
  key: TestKey | string,
  target: string,
  changes: {
    readonly query?: string;
    readonly body?: object | string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Answer> {
  const { path, body } = contract[target] as Row;
  const [method, template = ''] = target.split(' ');
  const address = path?.(subject) ?? template;
  const query = changes.query === undefined ? '' : `${address.includes('?') ? '&' : '?'}${changes.query}`;
  const merged = typeof changes.body === 'string' ? changes.body : { ...body?.(subject), ...changes.body };
  const sent = body === undefined ? changes.body : merged;
  return provider.partnerCall(key, `${method} ${address}${query}`, sent, changes.headers);
}

const scopeOf = ({ scope }: Row): readonly KeyScope[] => [scope ?? 'webhooks'];

it('the route table has the rows of the contract, and no other', () => {
  expect([...table.keys()].sort()).toEqual(Object.keys(contract).sort());
});

describe.each(rows)('%s', (target, row) => {
  it('needs its scope and nothing else, counts in its group, and answers as described', async () => {
    const key = await newKey(scopeOf(row));
    const answer = await send(key, target);
    expect(answer.status, answer.text).toBe(row.status);
    expect(answer.headers.get('x-ratelimit-limit')).toBe(String(limits[row.limit]));
    expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(limits[row.limit] - 1));
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    // Members that the schema does not know would be taken away.
    const { success } = table.get(target) ?? {};
    expect(success?.status).toBe(row.status);
    expect(success?.schema.parse(answer.json())).toEqual(answer.json());
  });

  it('refuses strangers, every other scope, and a signature that is wrong', async () => {
    const key = await newKey(scopeOf(row));
    expect(blamed(await send('svc_test_x', target), 401, 'invalid_api_key')).toEqual([]);
    const headers = { 'x-svc-signature': '0'.repeat(64), 'x-svc-timestamp': String(provider.clock.now()) };
    expect(blamed(await send(key, target, { headers }), 401, 'invalid_signature')).toEqual([]);
    if (row.scope === null) return;
    const powerless = await newKey(keyScopes.filter((scope) => scope !== row.scope));
    expect(blamed(await send(powerless, target), 403, 'insufficient_scope')).toEqual([]);
  });

  it('refuses what nobody knows, in the query and in the body', async () => {
    const key = await newKey(scopeOf(row));
    expect(blamed(await send(key, target, { query: 'surprise=1' }))).toEqual(['surprise']);
    if (row.body === undefined) return;
    expect(blamed(await send(key, target, { body: { surprise: 1 } }))).toEqual(['surprise']);
  });

  it('takes JSON of 64 KiB at most', async () => {
    if (row.body === undefined) return;
    const key = await newKey(scopeOf(row));
    expect(blamed(await send(key, target, { headers: { 'content-type': 'text/plain' } }), 415)).toEqual([]);
    expect(blamed(await send(key, target, { body: ' '.repeat(64 * 1024 + 1) }), 413)).toEqual([]);
    for (const bad of ['', '{', '{"url":1,"url":1}', '{"__proto__":{}}', '['.repeat(40) + ']'.repeat(40)])
      expect(blamed(await send(key, target, { body: bad }), 400), bad).toEqual([]);
  });

  it('answers JSON whatever is accepted, and errors in the shape that is described', async () => {
    const key = await newKey(scopeOf(row));
    const headers = { accept: 'text/html, application/xml' };
    const good = await send(key, target, { headers });
    expect([good.status, good.headers.get('content-type')]).toEqual([
      row.status,
      'application/json; charset=utf-8',
    ]);
    const bad = await send(key, target, { headers, query: 'surprise=1' });
    blamed(bad);
    expect(errorSchema.strict().parse(bad.json())).toEqual(bad.json());
  });

  it('shows a live key nothing of test mode', async () => {
    const answer = await send(await newKey(scopeOf(row), 'live'), target);
    expect(answer.status).toBe(row.live);
    if (row.live === 200) expect(answer.text).not.toMatch(/tr_[0-9a-f]{32}/);
  });
});
