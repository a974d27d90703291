import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createOstiary, type OstiaryOptions } from '../../src/index.ts';
import { parseOptions } from '../../src/options.ts';

const valid = (): OstiaryOptions => ({
  authUrl: 'https://id.example',
  storage: memoryStorage(),
  users: { find: () => null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  sealingKeys: [randomBytes(32)],
});

/** What `createOstiary` says of options that are the valid ones with these changes. */
async function refusal(changes: object): Promise<string> {
  const thrown = await createOstiary({ ...valid(), ...changes }).then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(TypeError);
  return thrown instanceof Error ? thrown.message : '';
}

const schema = z.object({ a: z.string() });
const type = { schema, example: { a: '' } };
const async = { '~standard': { version: 1, vendor: 'x', validate: async (value: unknown) => ({ value }) } };

describe('options of webhooks', () => {
  it('are those of the contract unless a host says otherwise, and frozen', () => {
    const { webhooks } = parseOptions(valid());
    expect(webhooks).toMatchObject({
      allowPrivateTargets: false,
      retryDelaysSeconds: [60, 300, 1800, 7200],
      retentionDays: 30,
    });
    expect([Object.isFrozen(webhooks), Object.isFrozen(webhooks.retryDelaysSeconds)]).toEqual([true, true]);
  });

  it.each<readonly [string, unknown, string]>([
    ['webhooks', null, 'webhooks'],
    ['an unknown one', { retries: 3 }, 'webhooks'],
    ['allowPrivateTargets', { allowPrivateTargets: 'yes' }, 'webhooks.allowPrivateTargets'],
    ['retryDelaysSeconds', { retryDelaysSeconds: 60 }, 'webhooks.retryDelaysSeconds'],
    ['a delay of nothing', { retryDelaysSeconds: [60, 0] }, 'webhooks.retryDelaysSeconds.1'],
    ['a delay into the past', { retryDelaysSeconds: [-1] }, 'webhooks.retryDelaysSeconds.0'],
    [
      'a delay without end',
      { retryDelaysSeconds: [Number.POSITIVE_INFINITY] },
      'webhooks.retryDelaysSeconds.0',
    ],
    ['a delay that is no number', { retryDelaysSeconds: [Number.NaN] }, 'webhooks.retryDelaysSeconds.0'],
    ['a delay of more than a week', { retryDelaysSeconds: [604_801] }, 'webhooks.retryDelaysSeconds.0'],
    [
      'many delays',
      { retryDelaysSeconds: Array.from({ length: 21 }, () => 1) },
      'webhooks.retryDelaysSeconds',
    ],
    ['no concurrency', { concurrency: 0 }, 'webhooks.concurrency'],
    ['half a concurrency', { concurrency: 1.5 }, 'webhooks.concurrency'],
    ['no retention', { retentionDays: 0 }, 'webhooks.retentionDays'],
    ['endless retention', { retentionDays: Number.POSITIVE_INFINITY }, 'webhooks.retentionDays'],
    ['a resolver that is none', { resolve: '8.8.8.8' }, 'webhooks.resolve'],
  ])('%s is refused with its path', async (_name, webhooks, path) => {
    expect(await refusal({ webhooks })).toContain(`createOstiary: ${path}: `);
  });

  it.each([
    ['https://id.example', undefined],
    ['https://id.example', 'https://api.example'],
    ['http://localhost:3000', 'https://api.example'],
    ['https://id.example', 'http://127.0.0.1:3000'],
    ['https://localhost.example', undefined],
    ['https://127.0.0.1.nip.example', undefined],
    ['https://10.0.0.1', undefined],
    ['https://[::2]', undefined],
  ])('private targets are refused with authUrl %s and baseUrl %s', async (authUrl, baseUrl) => {
    const changes = { authUrl, ...(baseUrl === undefined ? {} : { baseUrl }) };
    expect(await refusal({ ...changes, webhooks: { allowPrivateTargets: true } })).toMatch(
      /webhooks\.allowPrivateTargets: authUrl and baseUrl have to be loopback/,
    );
    expect(() => parseOptions({ ...valid(), ...changes })).not.toThrow();
  });

  it.each(['http://localhost:3000', 'http://127.0.0.1', 'https://127.8.8.8:8443', 'http://[::1]:3000'])(
    'private targets are allowed with %s',
    (authUrl) => {
      const options = { ...valid(), authUrl, webhooks: { allowPrivateTargets: true } };
      expect(parseOptions(options).webhooks.allowPrivateTargets).toBe(true);
    },
  );
});

describe('event types of a host', () => {
  it.each(['payment.completed', 'payment.failed', 'kyc.updated', 'webhook.test'])(
    'cannot be called %s',
    async (name) => {
      expect(await refusal({ events: { [name]: type } })).toMatch(
        /createOstiary: events: .*Ostiary’?'?s own/,
      );
    },
  );

  it.each<readonly [string, unknown, string]>([
    ['a list', [], 'events'],
    ['a name without a topic', { shipped: type }, 'events.shipped'],
    ['a name in capitals', { 'Order.shipped': type }, 'events.Order.shipped'],
    ['a name with a blank', { 'order. shipped': type }, 'events.order. shipped'],
    ['everything', { '*': type }, 'events.*'],
    ['an empty name', { '': type }, 'events'],
    ['a name that ends with a dot', { 'order.': type }, 'events.order.'],
    ['a name with a line break', { 'order.shipped\n': type }, 'events.order.shipped\n'],
    ['a long name', { [`order.${'s'.repeat(59)}`]: type }, 'events.order'],
    ['no schema', { 'order.shipped': { example: {} } }, 'events.order.shipped.schema'],
    [
      'a schema that is none',
      { 'order.shipped': { schema: { parse() {} }, example: {} } },
      'events.order.shipped.schema',
    ],
    ['no example', { 'order.shipped': { schema } }, 'events.order.shipped.example'],
    [
      'an example that is no object',
      { 'order.shipped': { schema, example: [] } },
      'events.order.shipped.example',
    ],
    ['a member more', { 'order.shipped': { ...type, when: '' } }, 'events.order.shipped'],
    [
      'an example that does not fit',
      { 'order.shipped': { schema, example: { a: 1 } } },
      'events.order.shipped.example.a: is not what the schema takes',
    ],
    ['a schema that answers later', { 'order.shipped': { ...type, schema: async } }, 'events: order.shipped'],
  ])('%s is refused with its path', async (_name, events, path) => {
    expect(await refusal({ events })).toContain(`createOstiary: ${path}`);
  });

  it('stand behind Ostiary’s own, in the order of the option', () => {
    const { events } = parseOptions({
      ...valid(),
      events: { 'order.shipped': type, 'a_b.c_d.e2': type },
    });
    expect(events.types).toEqual([
      'payment.completed',
      'payment.failed',
      'kyc.updated',
      'webhook.test',
      'order.shipped',
      'a_b.c_d.e2',
    ]);
    for (const name of ['constructor', '__proto__', 'toString', '*']) expect(events.has(name)).toBe(false);
  });
});
