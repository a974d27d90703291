import { expect, it } from 'vitest';
import { partner } from './support/partner.ts';

/** The operation of each method. A method that the SDK gains has to be added here, and with it its operation. */
const operations: { readonly [method: string]: string } = {
  'passports.verify': 'verifyPassport',
  'payments.create': 'createPayment',
  'payments.retrieve': 'getPayment',
  'payments.list': 'listPayments',
  'users.retrieve': 'getUser',
  'users.retrieveByPhone': 'getUserByPhone',
  'webhooks.create': 'createWebhook',
  'webhooks.list': 'listWebhooks',
  'webhooks.retrieve': 'getWebhook',
  'webhooks.update': 'updateWebhook',
  'webhooks.delete': 'deleteWebhook',
  'webhooks.deliveries': 'listDeliveries',
  'webhooks.recover': 'recoverWebhook',
  'events.list': 'listEvents',
  'events.redeliver': 'redeliverEvent',
  'reconciliation.export': 'exportReconciliation',
  'sandbox.createPassport': 'createSandboxPassport',
  'sandbox.triggerEvent': 'createSandboxEvent',
  whoami: 'whoami',
};

/** Methods that are no operation of their own. */
const composed = ['doctor'];

it('every method is one operation of the API, and every operation is one method', async () => {
  const { provider, ostiary } = await partner();
  const resources = Object.entries(ostiary).flatMap(([name, resource]) =>
    typeof resource === 'object' ? Object.keys(resource).map((method) => `${name}.${method}`) : [],
  );
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(ostiary)).filter(
    (name) => name !== 'constructor' && !composed.includes(name),
  );
  expect([...resources, ...own].sort()).toEqual(Object.keys(operations).sort());

  const { paths } = await (await fetch(`${provider.origin}/v1/openapi.json`)).json();
  const described = Object.values(paths as { [path: string]: { [method: string]: { operationId: string } } })
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId);
  expect(Object.values(operations).sort()).toEqual(described.sort());
});
