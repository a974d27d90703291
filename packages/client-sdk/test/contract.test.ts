import { describe, expect, it } from 'vitest';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import type { OstiaryPartner } from '../src/index.ts';
import { exportReconciliation } from '../src/reconciliation/index.ts';
import { all, partner, payment } from './support/partner.ts';

/** Objects on the server that the sample calls use. */
interface Things {
  readonly transfer: string;
  readonly endpoint: string;
  readonly event: string;
  readonly hook: string;
  /** Date on which the sample objects were created. */
  readonly date: string;
}

type Call = (ostiary: OstiaryPartner, things: Things) => PromiseLike<unknown>;

const secret = 'whsec_0123456789abcdef';

/** Operation and sample call of each SDK method. Add new methods and operations to this table. */
const methods: { readonly [method: string]: readonly [operation: string, Call] } = {
  'passports.verify': [
    'verifyPassport',
    async ({ passports, sandbox }) => passports.verify({ token: (await sandbox.createPassport()).token }),
  ],
  'payments.create': ['createPayment', ({ payments }) => payments.create(payment)],
  'payments.list': [
    'listPayments',
    ({ payments }) => all(payments.list({ status: 'pending', createdFrom: new Date(0), limit: 1 })),
  ],
  'payments.retrieve': ['getPayment', ({ payments }, { transfer }) => payments.retrieve(transfer)],
  'users.retrieve': ['getUser', ({ users }) => users.retrieve('KID-TEST-APPROVED')],
  'users.retrieveByPhone': ['getUserByPhone', ({ users }) => users.retrieveByPhone('+50900000001')],
  'webhooks.create': [
    'createWebhook',
    ({ webhooks }, { hook }) => webhooks.create({ url: hook, events: ['webhook.test'], secret }),
  ],
  'webhooks.list': ['listWebhooks', ({ webhooks }) => all(webhooks.list())],
  'webhooks.retrieve': ['getWebhook', ({ webhooks }, { endpoint }) => webhooks.retrieve(endpoint)],
  'webhooks.update': [
    'updateWebhook',
    ({ webhooks }, { endpoint }) => webhooks.update(endpoint, { events: ['*'] }),
  ],
  'webhooks.delete': [
    'deleteWebhook',
    async ({ webhooks }, { hook }) =>
      webhooks.delete((await webhooks.create({ url: hook, events: ['*'], secret })).id),
  ],
  'webhooks.deliveries': [
    'listDeliveries',
    ({ webhooks }, { endpoint }) => all(webhooks.deliveries(endpoint, { status: 'pending' })),
  ],
  'webhooks.recover': [
    'recoverWebhook',
    ({ webhooks }, { endpoint }) => webhooks.recover(endpoint, { since: new Date(0) }),
  ],
  'events.list': ['listEvents', ({ events }) => all(events.list({ after: 0, limit: 1 }))],
  'events.redeliver': [
    'redeliverEvent',
    ({ events }, { event, endpoint }) => events.redeliver(event, { endpointId: endpoint }),
  ],
  'sandbox.triggerEvent': [
    'createSandboxEvent',
    ({ sandbox }) => sandbox.triggerEvent({ type: 'webhook.test', data: { message: 'Hi' } }),
  ],
  'sandbox.createPassport': [
    'createSandboxPassport',
    ({ sandbox }) => sandbox.createPassport({ kid: 'KID-TEST-PENDING', expired: true }),
  ],
  'sandbox.listRequests': [
    'listInboxRequests',
    ({ sandbox }, { endpoint }) => sandbox.listRequests(endpoint),
  ],
  'sandbox.takeRequests': [
    'takeInboxRequests',
    async ({ sandbox, webhooks }) => {
      const { id } = await webhooks.create({ url: 'inbox:listen', events: ['*'], secret });
      return sandbox.takeRequests(id, { waitSeconds: 0 });
    },
  ],
  'sandbox.answerRequest': [
    'answerInboxRequest',
    ({ sandbox }) => sandbox.answerRequest(`in_${'0'.repeat(32)}`, { httpStatus: 204, response: '' }),
  ],
  whoami: ['whoami', (ostiary) => ostiary.whoami()],
  exportReconciliation: [
    'exportReconciliation',
    (ostiary, { date }) => all(exportReconciliation(ostiary, { date })),
  ],
};

/**
 * Operations that an SDK method calls only for some arguments; `user-ids.test.ts` covers them on a real
 * server.
 */
const otherOperations = ['findUser'];

/** SDK methods that call several operations. */
const composed = ['doctor'];

/** Lists the methods of the SDK's client by name. */
function methodsOf(ostiary: OstiaryPartner): string[] {
  const resources = Object.entries(ostiary).flatMap(([name, resource]) =>
    typeof resource === 'object' ? Object.keys(resource).map((method) => `${name}.${method}`) : [],
  );
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(ostiary)).filter(
    (name) => name !== 'constructor' && !composed.includes(name),
  );
  return [...resources, ...own];
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: { readonly [name: string]: unknown };
}

interface Description {
  readonly paths: {
    readonly [path: string]: {
      readonly [method: string]: {
        readonly operationId: string;
        readonly responses: {
          readonly [status: string]: {
            readonly content: { readonly 'application/json': { readonly schema: Schema } };
          };
        };
      };
    };
  };
  readonly components: { readonly schemas: { readonly [name: string]: Schema } };
}

/** Returns the operations in the server's API description by id. */
function operationsOf({ paths, components }: Description) {
  const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, { operationId, responses }]) => {
      const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
      const schema = success?.content['application/json'].schema;
      const named = components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema;
      const operation = {
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        fields: Object.keys(named?.properties ?? {}),
      };
      return [operationId, operation] as const;
    }),
  );
  return new Map(operations);
}

describe('every operation of the API', () => {
  it('is one method, which calls it on a real server and gets a response', async () => {
    const sent: { method: string; path: string; status: number }[] = [];
    const { provider, ostiary } = await partner(
      {},
      {
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          sent.push({ method: String(init.method), path: new URL(url).pathname, status: response.status });
          return response;
        },
      },
    );
    const { url: hook } = await sink();
    const { id: endpoint } = await ostiary.webhooks.create({ url: hook, events: ['*'], secret });
    const { id: transfer } = await ostiary.payments.create({ ...payment, reference: 'order-1017' });
    await provider.ostiary.worker.runDue();
    const { id: event } = await ostiary.sandbox.triggerEvent({ type: 'webhook.test' });
    const date = new Date(provider.clock.now()).toISOString().slice(0, 10);
    const things = { transfer, endpoint, event, hook, date };

    expect([...methodsOf(ostiary), 'exportReconciliation'].sort()).toEqual(Object.keys(methods).sort());
    const description = (await (await fetch(`${provider.origin}/v1/openapi.json`)).json()) as Description;
    const operations = operationsOf(description);
    expect([...Object.values(methods).map(([id]) => id), ...otherOperations].sort()).toEqual(
      [...operations.keys()].sort(),
    );
    for (const [id, call] of Object.values(methods)) {
      sent.length = 0;
      const answer = await call(ostiary, things);
      const last = sent.at(-1);
      const operation = operations.get(id);
      expect([id, last?.method]).toEqual([id, operation?.method]);
      expect(last?.path).toMatch(operation?.path ?? '');
      expect(last?.status).toBeLessThan(300);
      // Lists and exports yield items, whose types types.test.ts compares.
      if (!Array.isArray(answer))
        expect(operation?.fields).toEqual(expect.arrayContaining(Object.keys(answer as object)));
      else if (id !== 'listDeliveries' && id !== 'listPayments') expect(answer.length).toBeGreaterThan(0);
    }
  });
});
