import { describe, expect, it } from 'vitest';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import type { OstiaryPartner } from '../src/index.ts';
import { all, partner } from './support/partner.ts';

/** What calls may use: things that are there. */
interface Things {
  readonly transfer: string;
  readonly endpoint: string;
  readonly event: string;
  readonly hook: string;
  /** The day on which all of it happened. */
  readonly date: string;
}

const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } } as const;

/** The method of each operation. An operation that the server gains has to be added here, and with it a method. */
const methods: {
  readonly [operation: string]: (ostiary: OstiaryPartner, things: Things) => PromiseLike<unknown>;
} = {
  verifyPassport: async ({ passports, sandbox }) =>
    passports.verify({ token: (await sandbox.createPassport()).token }),
  createPayment: ({ payments }) => payments.create(payment),
  listPayments: ({ payments }) =>
    all(payments.list({ status: 'pending', createdFrom: new Date(0), limit: 1 })),
  getPayment: ({ payments }, { transfer }) => payments.retrieve(transfer),
  getUser: ({ users }) => users.retrieve('KID-TEST-APPROVED'),
  getUserByPhone: ({ users }) => users.retrieveByPhone('+50900000001'),
  exportReconciliation: ({ reconciliation }, { date }) => all(reconciliation.export({ date })),
  createWebhook: ({ webhooks }, { hook }) =>
    webhooks.create({ url: hook, events: ['webhook.test'], secret: 'whsec_0123456789abcdef' }),
  listWebhooks: ({ webhooks }) => all(webhooks.list()),
  getWebhook: ({ webhooks }, { endpoint }) => webhooks.retrieve(endpoint),
  updateWebhook: ({ webhooks }, { endpoint }) => webhooks.update(endpoint, { events: ['*'] }),
  deleteWebhook: async ({ webhooks }, { hook }) => {
    const { id } = await webhooks.create({ url: hook, events: ['*'], secret: 'whsec_0123456789abcdef' });
    return webhooks.delete(id);
  },
  listDeliveries: ({ webhooks }, { endpoint }) => all(webhooks.deliveries(endpoint, { status: 'pending' })),
  recoverWebhook: ({ webhooks }, { endpoint }) => webhooks.recover(endpoint, { since: new Date(0) }),
  listEvents: ({ events }) => all(events.list({ after: 0, limit: 1 })),
  redeliverEvent: ({ events }, { event, endpoint }) => events.redeliver(event, { endpointId: endpoint }),
  createSandboxEvent: ({ sandbox }) =>
    sandbox.triggerEvent({ type: 'webhook.test', data: { message: 'Hi' } }),
  createSandboxPassport: ({ sandbox }) => sandbox.createPassport({ kid: 'KID-TEST-PENDING', expired: true }),
  whoami: (ostiary) => ostiary.whoami(),
};

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: RegExp;
  readonly fields: readonly string[];
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

function operationsOf({ paths, components }: Description): Operation[] {
  return Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, { operationId, responses }]) => {
      const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
      const schema = success?.content['application/json'].schema;
      const named = components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema;
      return {
        id: operationId,
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
        fields: Object.keys(named?.properties ?? {}),
      };
    }),
  );
}

describe('every operation of the API', () => {
  it('has a method, which calls it on a real server and is answered', async () => {
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
    const webhook = { url: hook, events: ['*'], secret: 'whsec_0123456789abcdef' };
    const { id: endpoint } = await ostiary.webhooks.create(webhook);
    const { id: transfer } = await ostiary.payments.create({ ...payment, reference: 'order-1017' });
    await provider.ostiary.worker.runDue();
    const { id: event } = await ostiary.sandbox.triggerEvent({ type: 'webhook.test' });
    const date = new Date(provider.clock.now()).toISOString().slice(0, 10);
    const things = { transfer, endpoint, event, hook, date };

    const description = (await (await fetch(`${provider.origin}/v1/openapi.json`)).json()) as Description;
    const operations = operationsOf(description);
    expect(operations.map(({ id }) => id).sort()).toEqual(Object.keys(methods).sort());
    for (const { id, method, path, fields } of operations) {
      sent.length = 0;
      const answer = await methods[id]?.(ostiary, things);
      const last = sent.at(-1);
      expect([id, last?.method]).toEqual([id, method]);
      expect(last?.path).toMatch(path);
      expect(last?.status).toBeLessThan(300);
      // Lists and the export give items, whose types are compared in types.test.ts.
      if (!Array.isArray(answer))
        expect(fields).toEqual(expect.arrayContaining(Object.keys(answer as object)));
      else if (id !== 'listDeliveries' && id !== 'listPayments') expect(answer.length).toBeGreaterThan(0);
    }
  });
});
