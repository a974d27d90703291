import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  EventDataError,
  events,
  type HostEvent,
  type HostEventSchema,
  type OstiaryOptions,
} from '../../src/index.ts';
import { shop as open } from '../partner/webhook-shop.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { sink } from './support/sink.ts';

/** Makes a Standard Schema object as a library other than zod would. */
function standard(validate: (value: unknown) => unknown): HostEventSchema {
  return { '~standard': { version: 1, vendor: 'by-hand', validate } };
}

const points = standard((value) => {
  const { points: given } = value as { points?: unknown };
  return Number.isInteger(given)
    ? { value }
    : { issues: [{ message: 'has to be a whole number', path: ['points', { key: 0 }] }] };
});

const types = {
  'order.shipped': {
    summary: 'An order was shipped.',
    schema: z.object({ orderId: z.string(), at: z.iso.datetime(), note: z.string().nullable().optional() }),
    example: { orderId: 'o-1', at: '2026-01-01T00:00:00Z' },
  },
  'loyalty.points_changed': { schema: points, example: { points: 1 } },
};

async function shop(options: Partial<OstiaryOptions> = {}) {
  const given = await open({ events: types, ...options }, 'live');
  const { provider, key, list } = given;
  const publish = (event: Partial<HostEvent>) =>
    provider.ostiary.events.publish({ partner: key.partner, type: 'order.shipped', data: {}, ...event });
  return {
    ...given,
    listed: (by?: TestKey) => list('/v1/partner/events', by),
    publish,
    /** Returns the error of publishing an event, whether it is thrown at once or later. */
    failure: async (event: object): Promise<unknown> => {
      try {
        await publish(event);
      } catch (error) {
        return error;
      }
      throw new Error('it was published');
    },
  };
}

const shipped = { orderId: 'o-7', at: '2026-02-03T04:05:06.789Z' };

it('an event of the host’s own enters the sequence of one partner and mode, and reaches the endpoints that want it', async () => {
  const { provider, key, listed, publish, register } = await shop();
  const [all, own, other] = [await sink(), await sink(), await sink()];
  await register(all.url, { events: ['*'] });
  await register(own.url, { events: ['order.shipped', 'payment.failed'] });
  await register(other.url, { events: ['loyalty.points_changed'] });
  const published = await publish({ data: shipped });
  expect(published).toEqual({ id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), partner: key.partner });
  const createdAt = new Date(provider.clock.now()).toISOString();
  const event = { id: published.id, type: 'order.shipped', createdAt, mode: 'live', data: shipped };
  expect(await listed()).toEqual([{ sequence: 1, ...event }]);
  await provider.ostiary.worker.runDue();
  for (const endpoint of [all, own])
    expect(endpoint.received.map(({ body }) => body.toString())).toEqual([JSON.stringify(event)]);
  expect(other.received).toEqual([]);

  const test = await provider.key({ partner: key.partner, mode: 'test' });
  const stranger = await provider.key();
  await publish({ data: shipped, mode: 'test' });
  await publish({ data: { points: 3 }, type: 'loyalty.points_changed', partner: stranger.partner });
  expect(await listed()).toHaveLength(1);
  expect(await listed(test)).toMatchObject([{ mode: 'test', sequence: 1 }]);
  expect(await listed(stranger)).toMatchObject([{ data: { points: 3 }, mode: 'live' }]);
});

describe('publishing', () => {
  it('refuses types, modes and partners that there are not with a TypeError', async () => {
    const { failure, listed } = await shop();
    const known = 'known are order.shipped, loyalty.points_changed';
    for (const [changes, message] of [
      [{ type: 'order.lost' }, `type: order.lost is not among the option events; ${known}`],
      [{ type: undefined }, 'type'],
      [{ type: ['order.shipped'] }, 'type'],
      [{ type: 'constructor' }, 'type'],
      ...Object.keys(events).map(
        (type) => [{ type }, `type: ${type} is published by Ostiary itself`] as const,
      ),
      [{ mode: 'sandbox' }, 'mode'],
      [{ partner: undefined }, 'partner'],
      [{ partner: 'Acme' }, 'partner'],
      [{ partner: 'nobody-at-all' }, 'partner: there is no partner'],
    ] as const) {
      const thrown = await failure({ data: shipped, ...changes });
      expect(thrown).toBeInstanceOf(TypeError);
      expect(String(thrown)).toContain(message);
    }
    expect(await listed()).toEqual([]);
  });

  it.each<[options: object, message: string]>([
    [
      { transaction: undefined },
      'transaction: is undefined; leave it out to publish outside of a transaction',
    ],
    [{ trx: {} }, 'trx: is no option; the only one is transaction'],
    [{ transaction: undefined, trx: {} }, 'trx: is no option; the only one is transaction'],
  ])('refuses %j at once, and publishes nothing outside of a transaction', async (options, message) => {
    const { provider, key, listed } = await shop();
    const { events, users } = provider.ostiary;
    const event = { partner: key.partner, type: 'order.shipped', data: shipped } as const;
    expect(() => events.publish(event, options)).toThrow(TypeError);
    expect(() => events.publish(event, options)).toThrow(message);
    const status = { kycStatus: 'approved', kycTier: 2 } as const;
    for (const previous of [{ kycStatus: 'pending', kycTier: 0 } as const, status]) {
      const change = { sub: 'ana', kid: 'ana', ...status, previous, partners: [key.partner] };
      expect(() => users.kycChanged(change, options)).toThrow(message);
    }
    expect(await listed()).toEqual([]);
  });

  it('says with an EventDataError where data do not fit', async () => {
    const { failure, listed } = await shop();
    for (const [path, data, type = 'order.shipped'] of [
      ['data', undefined],
      ['data', null],
      ['data', [shipped]],
      ['data', JSON.stringify(shipped)],
      ['data', () => shipped],
      ['data', { toJSON: () => 'text' }],
      ['data', { toJSON: () => undefined }],
      ['data.at', { orderId: 'o' }],
      ['data.at', { ...shipped, at: undefined }],
      ['data.at', { ...shipped, at: 'yesterday' }],
      // JSON would convert NaN to null.
      ['data.orderId', { ...shipped, orderId: Number.NaN }],
      ['data.points.0', { points: 1.5 }, 'loyalty.points_changed'],
    ] as const) {
      const thrown = await failure({ type, data });
      expect(thrown).toBeInstanceOf(EventDataError);
      expect(thrown).toMatchObject({ path, problem: expect.any(String) });
    }
    expect(await listed()).toEqual([]);
  });

  it('sends what JSON makes of the data, and checks that', async () => {
    const { listed, publish } = await shop();
    await publish({
      data: {
        orderId: { toJSON: () => 'o-8' },
        at: new Date('2026-02-03T04:05:06.789Z'),
        note: undefined,
        extra: [undefined, Number.POSITIVE_INFINITY, -0, new Map([[1, 2]])],
      },
    });
    expect((await listed())[0]?.data).toEqual({
      orderId: 'o-8',
      at: '2026-02-03T04:05:06.789Z',
      extra: [null, null, 0, {}],
    });
    for (const data of [{ ...shipped, big: 1n }, circular()])
      await expect((async () => publish({ data }))()).rejects.toThrow('data: cannot be written as JSON');
    expect(await listed()).toHaveLength(1);
  });

  it('does not change with the object that was given', async () => {
    const { listed, publish } = await shop();
    const data = { ...shipped };
    const publishing = publish({ data });
    data.orderId = 'changed';
    await publishing;
    expect((await listed())[0]?.data).toEqual(shipped);
  });

  it('refuses a schema that validates asynchronously', async () => {
    let later: (value: unknown) => unknown = (value) => ({ value });
    const { failure, listed } = await shop({
      events: { 'order.shipped': { schema: standard((value) => later(value)), example: {} } },
    });
    for (const answer of [
      async (value: unknown) => ({ value }),
      () => Promise.reject(new Error('this must not end the process')),
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library
      () => ({ then: (resolve: (value: object) => void) => resolve({ issues: [{ message: 'no' }] }) }),
    ]) {
      later = answer;
      expect(String(await failure({}))).toMatch(/TypeError: .*order\.shipped.*synchronously/);
    }
    // A refusal without a reason counts too.
    later = () => ({ issues: [] });
    expect(await failure({})).toBeInstanceOf(EventDataError);
    expect(await listed()).toEqual([]);
  });
});

function circular(): Json {
  const data: Json = { ...shipped };
  data.self = data;
  return data;
}
