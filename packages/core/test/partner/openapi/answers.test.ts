import { beforeAll, expect, it } from 'vitest';
import type { Answer } from '../../support/browser.ts';
import { fragileStorage } from '../../support/fragile-storage.ts';
import {
  type Description,
  descriptionOf,
  misdescribed,
  type Operation,
  operationsOf,
} from '../../support/openapi.ts';
import { TestRail } from '../../support/partner-api.ts';
import { type Json, type TestKey, TestProvider } from '../../support/provider.ts';

const database = fragileStorage();
let provider: TestProvider;
let key: TestKey;
let description: Description;
/** What stands for the ids and the passport of the examples, which are of nothing that exists. */
let real: { readonly [operation: string]: { readonly path?: string; readonly body?: Json } };

const operationCalled = (id: string) => {
  const found = operationsOf(description).find(({ operation }) => operation.operationId === id);
  if (found === undefined) throw new Error(`there is no operation ${id}`);
  return found;
};

const call = (target: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
  provider.partnerCall(key, target, body, headers);

/** The request of an operation as its examples say. */
function send(id: string, headers: Record<string, string> = {}, query = ''): Promise<Answer> {
  const { method, path, operation } = operationCalled(id);
  const own = real[id] ?? {};
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(own.path ?? operation.parameters.find((parameter) => parameter.name === name)?.example),
  );
  const body = operation.requestBody?.content['application/json']?.example as Json | undefined;
  return call(
    `${method} ${filled}${query}`,
    body === undefined ? undefined : { ...body, ...own.body },
    headers,
  );
}

beforeAll(async () => {
  provider = await TestProvider.start({
    storage: database.storage,
    payments: new TestRail(),
    // The address of the examples leads nowhere; what is checked is that it would be taken.
    webhooks: { resolve: async () => ['93.184.216.34'] },
    partnerLimits: { users: { requests: 2, windowSeconds: 60 } },
  });
  key = await provider.key({ mode: 'test' });
  description = await descriptionOf(provider);
  real = {};
  const id = async (operation: string): Promise<string> => String((await send(operation)).json().id);
  const endpoint = await id('createWebhook');
  const spare = await id('createWebhook');
  const event = await id('createSandboxEvent');
  const payment = await id('createPayment');
  const { token } = (await send('createSandboxPassport')).json();
  const day = new Date(provider.clock.now()).toISOString().slice(0, 10);
  real = {
    verifyPassport: { body: { token } },
    createPayment: { body: { reference: 'order-1018' } },
    getPayment: { path: payment },
    getWebhook: { path: endpoint },
    updateWebhook: { path: endpoint },
    deleteWebhook: { path: spare },
    listDeliveries: { path: endpoint },
    recoverWebhook: { path: endpoint },
    redeliverEvent: { path: event, body: { endpointId: endpoint } },
    exportReconciliation: { path: day },
  };
  return () => provider.stop();
});

const success = (operation: Operation) => Number(Object.keys(operation.responses)[0]);

it('what every operation takes and answers is what is described: the examples are sent to a real server', async () => {
  for (const { operation } of operationsOf(description)) {
    const id = operation.operationId;
    const query = id === 'exportReconciliation' ? `?date=${real[id]?.path}` : '';
    const answer = await send(id, {}, query);
    expect([id, answer.status, answer.text]).toEqual([id, success(operation), answer.text]);
    expect(misdescribed(description, operation, answer)).toEqual([]);
    for (const name of ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      expect(answer.headers.get(name), `${id} ${name}`).not.toBeNull();
  }
});

it('a check of an answer notices a header and a member that are described otherwise', async () => {
  const { operation } = operationCalled('whoami');
  const answer = await send('whoami');
  const [, ok] = Object.entries(operation.responses)[0] ?? [];
  const without = { ...operation, responses: { '200': { ...ok, description: '', headers: {} } } };
  expect(misdescribed(description, without, answer)).toContain('the header x-request-id is not described');
  expect(misdescribed(description, operationCalled('getUser').operation, answer)).toContain(
    " must have required property 'kid'",
  );
});

it('an export is described in each of its formats', async () => {
  const { operation } = operationCalled('exportReconciliation');
  for (const format of ['json', 'ndjson', 'csv']) {
    const answer = await call(
      `GET /v1/partner/reconciliation?date=${real.exportReconciliation?.path}&format=${format}`,
    );
    expect(answer.status).toBe(200);
    expect(misdescribed(description, operation, answer)).toEqual([]);
    expect(answer.headers.has('content-disposition')).toBe(format !== 'json');
  }
});

it('every refusal is described, with what it says about another try', async () => {
  const pay = 'POST /v1/partner/payments';
  const { operation } = operationCalled('createPayment');
  const { example } = operation.requestBody?.content['application/json'] ?? {};
  const payment = { ...(example as Json), reference: 'order-1019' };
  const first = await call(pay, payment, { 'idempotency-key': 'k' });
  const replayed = await call(pay, payment, { 'idempotency-key': 'k' });
  expect([first, replayed].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
  const refusals: readonly (readonly [number, Answer])[] = [
    [201, first],
    [201, replayed],
    [400, await call(pay, { ...payment, amount: 1 })],
    [401, await provider.partnerCall('svc_test_x', pay, payment)],
    [401, await call(pay, payment, { 'x-svc-signature': 'x' })],
    [
      403,
      await provider.partnerCall(await provider.key({ mode: 'test', scopes: ['webhooks'] }), pay, payment),
    ],
    [404, await call(pay, { ...payment, reference: 'order-1020', recipient: { kid: 'nobody' } })],
    [409, await call(pay, { ...payment, amount: '1.00' }, { 'idempotency-key': 'k' })],
    [413, await call(pay, 'x'.repeat(64 * 1024 + 1))],
    [415, await call(pay, '{}', { 'content-type': 'text/plain' })],
  ];
  for (const [status, answer] of refusals) {
    expect([answer.status, answer.text]).toEqual([status, answer.text]);
    expect(misdescribed(description, operation, answer)).toEqual([]);
  }
});

it('a limit and a database that is down say when to come again, as described', async () => {
  const owner = await provider.key({ mode: 'test' });
  const look = () => provider.partnerCall(owner, 'GET /v1/partner/users/KID-TEST-APPROVED');
  await look();
  await look();
  const limited = await look();
  database.breakWhen((name) => name === 'transfers.list');
  const down = await call('GET /v1/partner/payments').finally(() => database.breakWhen(null));
  expect([limited.status, down.status]).toEqual([429, 503]);
  for (const [id, answer] of [
    ['getUser', limited],
    ['listPayments', down],
  ] as const) {
    const { operation } = operationCalled(id);
    expect(misdescribed(description, operation, answer)).toEqual([]);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(operation.responses[answer.status]?.headers).toHaveProperty('Retry-After');
  }
});
