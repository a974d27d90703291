import { describe, expect, it } from 'vitest';
import { keyScopes } from '../../src/admin.ts';
import { partnerErrors } from '../../src/index.ts';
import { errorSchema } from '../../src/partner/schemas.ts';
import type { KeyScope } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { descriptionOf, misdescribed, operationsOf } from '../support/openapi.ts';
import { TestRail } from '../support/partner-api.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';
import { blamed, statuses } from './refusal.ts';

type Row = readonly [
  target: string,
  scope: KeyScope | null,
  limit: 'verify' | 'payments' | 'users' | 'reconciliation' | 'listening' | 'other',
  status: number,
  /** Storage calls of a request that a test must be able to make fail. */
  ...calls: string[],
];

/**
 * Contract of the partner API, written down independently of the code: the table of the specification, and
 * the rows that were decided later.
 */
const contract: readonly Row[] = [
  ['POST /v1/partner/verify', 'identity:verify', 'verify', 200],
  ['POST /v1/partner/payments', 'payments:write', 'payments', 201, 'transfers.create'],
  ['GET /v1/partner/payments', 'payments:read', 'other', 200, 'transfers.list'],
  ['GET /v1/partner/payments/{id}', 'payments:read', 'other', 200, 'transfers.find'],
  ['GET /v1/partner/users', 'users:read', 'users', 200],
  ['GET /v1/partner/users/phone/{phone}', 'users:read', 'users', 200],
  ['GET /v1/partner/users/{kid}', 'users:read', 'users', 200],
  ['GET /v1/partner/reconciliation', 'reconciliation:read', 'reconciliation', 200, 'transfers.listFinal'],
  ['POST /v1/partner/webhooks', 'webhooks', 'other', 201, 'webhooks.create'],
  ['GET /v1/partner/webhooks', 'webhooks', 'other', 200, 'webhooks.list'],
  ['GET /v1/partner/webhooks/{id}', 'webhooks', 'other', 200, 'webhooks.find'],
  ['PATCH /v1/partner/webhooks/{id}', 'webhooks', 'other', 200, 'webhooks.replace'],
  ['DELETE /v1/partner/webhooks/{id}', 'webhooks', 'other', 200, 'webhooks.remove'],
  ['GET /v1/partner/webhooks/{id}/deliveries', 'webhooks', 'other', 200, 'deliveries.list'],
  ['POST /v1/partner/webhooks/{id}/recover', 'webhooks', 'other', 200, 'deliveries.recover'],
  ['GET /v1/partner/events', 'webhooks', 'other', 200, 'events.list'],
  ['POST /v1/partner/events/{id}/redeliver', 'webhooks', 'other', 200, 'deliveries.redeliver'],
  ['POST /v1/partner/sandbox/events', 'webhooks', 'other', 201, 'events.publish'],
  ['POST /v1/partner/sandbox/passports', 'identity:verify', 'other', 201],
  ['GET /v1/partner/webhooks/{id}/requests', 'webhooks', 'other', 200, 'inbox.list'],
  ['POST /v1/partner/webhooks/{id}/take', 'webhooks', 'listening', 200, 'inbox.take'],
  ['POST /v1/partner/inbox/{id}/answer', 'webhooks', 'listening', 200, 'inbox.answer'],
  ['GET /v1/partner/whoami', null, 'other', 200],
];

/** Rate limits of the specification, and of groups that were decided later. */
const limits = { verify: 60, payments: 120, users: 300, reconciliation: 10, listening: 1_200, other: 200 };
const windowSeconds = (limit: Row[2]) => (limit === 'reconciliation' ? 3_600 : 60);

const database = fragileStorage();
const provider = await startProvider({
  storage: database.storage,
  payments: new TestRail(),
  // Resolve the examples' URL to a public address: the URL must be accepted, but no server is there.
  webhooks: { resolve: async () => ['93.184.216.34'] },
});
const table = new Map(
  provider.partnerRoutes.map((route) => [`${route.method} ${route.path.replace(/:(\w+)/g, '{$1}')}`, route]),
);
const description = await descriptionOf(provider);
const partner = await provider.partner();
/** Replacements for the ids and the passport in examples, which do not exist on the test's server. */
let real: Readonly<Record<string, { readonly path?: () => string; readonly body?: () => Json }>> = {};

const newKey = (scopes: readonly KeyScope[]) => provider.key({ partner, scopes, mode: 'test' });
const keyFor = ([, scope]: Row) => newKey([scope ?? 'webhooks']);

function operationAt(target: string) {
  const found = operationsOf(description).find(({ method, path }) => target === `${method} ${path}`);
  if (found === undefined) throw new Error(`there is no operation ${target}`);
  return found.operation;
}

/** Sends an operation's example request, with changes. */
function send(
  key: TestKey | string,
  target: string,
  changes: { query?: string; body?: Json | string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { parameters, requestBody } = operationAt(target);
  const own = real[target] ?? {};
  const filled = target.replaceAll(/\{(\w+)\}/g, (_, name) =>
    String(own.path?.() ?? parameters.find((parameter) => parameter.name === name)?.example),
  );
  const needed: { readonly [target: string]: string } = {
    'GET /v1/partner/reconciliation': `date=${new Date().toISOString().slice(0, 10)}&`,
    'GET /v1/partner/users': 'kid=KID-TEST-APPROVED&',
  };
  const example = requestBody?.content['application/json']?.example as Json | undefined;
  const merged =
    typeof changes.body === 'string' ? changes.body : { ...example, ...own.body?.(), ...changes.body };
  const body = example === undefined ? changes.body : merged;
  return provider.partnerCall(
    key,
    `${filled}?${needed[target] ?? ''}${changes.query ?? ''}`,
    body,
    changes.headers,
  );
}

/** Checks that a response matches the description of its operation. */
function expectDescribed(target: string, answer: Answer, status: number): void {
  expect(answer.status, answer.text).toBe(status);
  expect(misdescribed(description, operationAt(target), answer)).toEqual([]);
}

/** Checks that a refusal matches the description of its operation. */
function expectRefused(target: string, answer: Answer, status = 400, code = 'invalid_request'): string[] {
  expectDescribed(target, answer, status);
  expect(errorSchema.strict().parse(answer.json())).toEqual(answer.json());
  return blamed(answer, status, code);
}

const almighty = await newKey(keyScopes);
const made = async (target: string, body: Json = {}) => (await send(almighty, target, { body })).json();
// Create a payment of every status, so that every part of a response appears.
const transfers: Json[] = [];
for (const [index, amount] of ['1.00', '1.01', '1.02'].entries())
  transfers.push(await made('POST /v1/partner/payments', { amount, reference: `order-${index + 1}` }));
const [{ id: transfer } = {}] = transfers;
while ((await provider.ostiary.worker.runDue()) > 0);
const register = async () => String((await made('POST /v1/partner/webhooks')).id);
const endpoint = await register();
const spare = await Promise.all(Array.from({ length: 20 }, register));
const { id: event } = await made('POST /v1/partner/sandbox/events');
const { token } = await made('POST /v1/partner/sandbox/passports');
let orders = 3;
const listenedTo = String((await made('POST /v1/partner/webhooks', { url: 'inbox:listen' })).id);
const ofEndpoint = { path: () => endpoint };
real = {
  'POST /v1/partner/verify': { body: () => ({ token }) },
  'POST /v1/partner/payments': { body: () => ({ reference: `order-${++orders}` }) },
  'GET /v1/partner/payments/{id}': { path: () => String(transfer) },
  'GET /v1/partner/webhooks/{id}': ofEndpoint,
  'PATCH /v1/partner/webhooks/{id}': ofEndpoint,
  'DELETE /v1/partner/webhooks/{id}': { path: () => spare.pop() ?? '' },
  'GET /v1/partner/webhooks/{id}/deliveries': ofEndpoint,
  'POST /v1/partner/webhooks/{id}/recover': ofEndpoint,
  'GET /v1/partner/webhooks/{id}/requests': ofEndpoint,
  'POST /v1/partner/webhooks/{id}/take': { path: () => listenedTo, body: () => ({ waitSeconds: 0 }) },
  'POST /v1/partner/events/{id}/redeliver': {
    path: () => String(event),
    body: () => ({ endpointId: endpoint }),
  },
};

it('the routes and their description have the rows of the contract, and no other', () => {
  const rows = contract.map(([target]) => target).sort();
  expect([...table.keys()].sort()).toEqual(rows);
  const described = operationsOf(description);
  expect(described.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(rows);
  expect(new Set(described.map(({ operation }) => operation.operationId)).size).toBe(rows.length);
});

describe.each(contract.map((row) => [row[0], row] as const))('%s', (target, row) => {
  const [, scope, limit, status, ...calls] = row;

  it('is described as it is', () => {
    const operation = operationAt(target);
    const { parameters } = operation;
    expect([operation['x-scope'] ?? null, operation['x-limit-group']]).toEqual([scope, limit]);
    const route = table.get(target);
    expect([route?.operation, route?.idempotent === true]).toEqual([
      operation.operationId,
      parameters.some(({ name }) => name === 'Idempotency-Key'),
    ]);
    expect(table.get(target)?.body !== undefined).toBe(operation.requestBody !== undefined);
    const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
    expect(names).toEqual(target.match(/\{\w+\}/g) ?? []);
  });

  it('needs its scope and nothing else, counts in its group, and takes and answers what is described', async () => {
    // The response is JSON for every `Accept` header.
    const answer = await send(await keyFor(row), target, {
      headers: { accept: 'text/html, application/xml' },
    });
    expectDescribed(target, answer, status);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-ratelimit-limit': String(limits[limit]),
      'x-ratelimit-remaining': String(limits[limit] - 1),
      'x-ratelimit-reset': String(Math.ceil(provider.clock.now() / 1000 + windowSeconds(limit))),
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    // Do not parse, which would remove members that the schema lacks.
    const { success } = table.get(target) ?? {};
    expect(success?.status).toBe(status);
    expect(success?.schema.parse(answer.json())).toEqual(answer.json());
  });

  it('refuses strangers, every other scope, and a signature that is wrong', async () => {
    expect(expectRefused(target, await send('svc_test_x', target), 401, 'invalid_api_key')).toEqual([]);
    const headers = { 'x-svc-signature': '0'.repeat(64), 'x-svc-timestamp': String(provider.clock.now()) };
    const unsigned = await send(await keyFor(row), target, { headers });
    expect(expectRefused(target, unsigned, 401, 'invalid_signature')).toEqual([]);
    if (scope === null) return;
    const powerless = await newKey(keyScopes.filter((other) => other !== scope));
    expect(expectRefused(target, await send(powerless, target), 403, 'insufficient_scope')).toEqual([]);
  });

  it('is 503 when the database does not respond; the cause is only in the log', async () => {
    const key = await keyFor(row);
    for (const call of ['apiKeys.findByDigest', ...calls]) {
      provider.clock.advance(5_000);
      database.breakWhen((name) => name === call);
      const headers = { 'idempotency-key': call };
      const answer = await send(key, target, { headers }).finally(() => database.breakWhen(null));
      expect(expectRefused(target, answer, 503, 'internal_error')).toEqual([]);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.text).not.toContain('secret detail');
      expect(provider.errors.at(-1)?.fields).toMatchObject({ requestId: answer.json().requestId });
    }
  });

  it('refuses unknown parameters and members, and accepts at most 64 KiB of JSON', async () => {
    const key = await keyFor(row);
    const headers = { accept: 'text/html, application/xml' };
    expect(expectRefused(target, await send(key, target, { headers, query: 'surprise=1' }))).toEqual([
      'surprise',
    ]);
    if (table.get(target)?.body === undefined) return;
    expect(expectRefused(target, await send(key, target, { body: { surprise: 1 } }))).toEqual(['surprise']);
    const text = await send(key, target, { headers: { 'content-type': 'text/plain' } });
    expect(expectRefused(target, text, 415)).toEqual([]);
    expect(expectRefused(target, await send(key, target, { body: ' '.repeat(64 * 1024 + 1) }), 413)).toEqual(
      [],
    );
    const doubtful = [
      '{"url":1,"url":1}',
      '{"__proto__":{}}',
      '{"a":"\\u0000"}',
      '['.repeat(40) + ']'.repeat(40),
    ];
    for (const body of ['null', '1'])
      expect(expectRefused(target, await send(key, target, { body })), body).toEqual(['']);
    // If the description permits an absent body, an empty one is `{}`.
    const empty = await send(key, target, { body: '' });
    if (operationAt(target).requestBody?.required === false) expectDescribed(target, empty, row[3]);
    else expect(expectRefused(target, empty)).toEqual([]);
    for (const body of ['{', '{"a":NaN}', ...doubtful])
      expect(expectRefused(target, await send(key, target, { body })), body).toEqual([]);
  });
});

describe('the description', () => {
  it('contains every error code with its status, and no code that is not in the table', () => {
    const table = Object.entries(partnerErrors).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(table)).toEqual(statuses);
    const named = operationsOf(description).flatMap(({ operation }) =>
      Object.entries(operation.responses)
        .filter(([status]) => Number(status) >= 400)
        .flatMap(([status, { content }]) =>
          Object.keys(content?.['application/json']?.examples ?? {}).map((code) => `${status} ${code}`),
        ),
    );
    const extra = ['408 invalid_request', '413 invalid_request', '415 invalid_request', '503 internal_error'];
    const known = Object.entries(statuses).map(([code, status]) => `${status} ${code}`);
    expect([...new Set(named)].sort()).toEqual([...known, ...extra].sort());
  });

  it('is checked by something that notices a header and a member that are described otherwise', async () => {
    const whoami = 'GET /v1/partner/whoami';
    const answer = await send(await newKey(keyScopes), whoami);
    const [, ok] = Object.entries(operationAt(whoami).responses)[0] ?? [];
    const without = { ...operationAt(whoami), responses: { '200': { ...ok, description: '', headers: {} } } };
    expect(misdescribed(description, without, answer)).toContain('the header x-request-id is not described');
    const other = operationAt('GET /v1/partner/users/{kid}');
    expect(misdescribed(description, other, answer)).toContain(" must have required property 'kid'");
  });

  it('describes an export in each of its formats', async () => {
    const target = 'GET /v1/partner/reconciliation';
    const key = await newKey(keyScopes);
    for (const format of ['json', 'ndjson', 'csv']) {
      const answer = await send(key, target, { query: `format=${format}` });
      expectDescribed(target, answer, 200);
      expect(answer.headers.has('content-disposition')).toBe(format !== 'json');
    }
  });

  it('describes replays, conflicts and limits, and when a retry makes sense', async () => {
    const pay = 'POST /v1/partner/payments';
    const key = await newKey(keyScopes);
    const headers = { 'idempotency-key': 'k' };
    const body = { reference: 'order-1019' };
    for (const replayed of [null, 'true']) {
      const answer = await send(key, pay, { body, headers });
      expectDescribed(pay, answer, 201);
      expect(answer.headers.get('idempotent-replayed')).toBe(replayed);
    }
    const conflict = await send(key, pay, { body: { ...body, amount: '1.00' }, headers });
    expectRefused(pay, conflict, 409, 'idempotency_conflict');
    expectRefused(pay, await send(key, pay, { body: { recipient: { kid: 'nobody' } } }), 404, 'not_found');
    const look = 'GET /v1/partner/reconciliation';
    for (let request = 0; request < limits.reconciliation; request += 1) await send(key, look);
    expectRefused(look, await send(key, look), 429, 'rate_limit_exceeded');
    for (const status of [429, 503])
      expect(operationAt(look).responses[status]?.headers).toHaveProperty('Retry-After');
  });
});
