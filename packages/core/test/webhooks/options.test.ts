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
const shipped = (changes: object) => ({ 'order.shipped': { ...type, ...changes } });
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

  it.each<readonly [unknown, string]>([
    [null, 'webhooks'],
    [{ retries: 3 }, 'webhooks'],
    [{ allowPrivateTargets: 'yes' }, 'webhooks.allowPrivateTargets'],
    [{ retryDelaysSeconds: [60, 0] }, 'webhooks.retryDelaysSeconds.1'],
    [{ retryDelaysSeconds: [Number.POSITIVE_INFINITY] }, 'webhooks.retryDelaysSeconds.0'],
    [{ retryDelaysSeconds: [604_801] }, 'webhooks.retryDelaysSeconds.0'],
    [{ retryDelaysSeconds: Array(21).fill(1) }, 'webhooks.retryDelaysSeconds'],
    [{ concurrency: 0 }, 'webhooks.concurrency'],
    [{ concurrency: 1.5 }, 'webhooks.concurrency'],
    [{ retentionDays: 0 }, 'webhooks.retentionDays'],
    [{ resolve: '8.8.8.8' }, 'webhooks.resolve'],
  ])('%j is refused with the path %s', async (webhooks, path) => {
    expect(await refusal({ webhooks })).toContain(`createOstiary: ${path}: `);
  });

  it('allow private targets on loopback addresses only', async () => {
    const webhooks = { allowPrivateTargets: true };
    for (const host of [
      'http://localhost:3000',
      'http://127.0.0.1',
      'https://127.8.8.8:8443',
      'http://[::1]:3000',
    ])
      expect(parseOptions({ ...valid(), authUrl: host, webhooks }).webhooks).toMatchObject(webhooks);
    const own = 'http://localhost:3000';
    const others = ['id.example', 'localhost.example', '127.0.0.1.nip.example', '10.0.0.1', '[::2]'];
    for (const other of others.map((host) => `https://${host}`))
      for (const [authUrl, baseUrl] of [
        [other, other],
        [own, other],
        [other, own],
      ])
        expect(await refusal({ authUrl, baseUrl, webhooks })).toMatch(
          /webhooks\.allowPrivateTargets: authUrl and baseUrl have to be loopback/,
        );
  });
});

describe('event types of a host', () => {
  it('cannot have a name of Ostiary’s own', async () => {
    for (const name of ['payment.completed', 'payment.failed', 'kyc.updated', 'webhook.test'])
      expect(await refusal({ events: { [name]: type } })).toMatch(
        /createOstiary: events: .*Ostiary’?'?s own/,
      );
  });

  it.each<readonly [unknown, string]>([
    [[], 'events'],
    [{ shipped: type }, 'events.shipped'],
    [{ 'Order.shipped': type }, 'events.Order.shipped'],
    [{ 'order. shipped': type }, 'events.order. shipped'],
    [{ '*': type }, 'events.*'],
    [{ '': type }, 'events'],
    [{ 'order.': type }, 'events.order.'],
    [{ 'order.shipped\n': type }, 'events.order.shipped\n'],
    [{ [`order.${'s'.repeat(59)}`]: type }, 'events.order'],
    [shipped({ schema: undefined }), 'events.order.shipped.schema'],
    [shipped({ schema: { parse() {} } }), 'events.order.shipped.schema'],
    [shipped({ example: undefined }), 'events.order.shipped.example'],
    [shipped({ example: [] }), 'events.order.shipped.example'],
    [shipped({ when: '' }), 'events.order.shipped'],
    [shipped({ example: { a: 1 } }), 'events.order.shipped.example.a: is not what the schema takes'],
    [shipped({ schema: async }), 'events: order.shipped'],
  ])('%j is refused with the path %s', async (events, path) => {
    expect(await refusal({ events })).toContain(`createOstiary: ${path}`);
  });

  it('stand behind Ostiary’s own, in the order of the option', () => {
    const { events } = parseOptions({
      ...valid(),
      events: { 'order.shipped': type, 'a_b.c_d.e2': type },
    });
    const own = ['payment.completed', 'payment.failed', 'kyc.updated', 'webhook.test'];
    expect(events.types).toEqual([...own, 'order.shipped', 'a_b.c_d.e2']);
    for (const name of ['constructor', '__proto__', 'toString', '*']) expect(events.has(name)).toBe(false);
  });
});
