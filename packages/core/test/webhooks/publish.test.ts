import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { shop as open } from '../partner/webhook-shop.ts';
import { payment } from '../support/partner-api.ts';
import type { Json } from '../support/provider.ts';
import { sink } from './support/sink.ts';

/** A partner whose rail leaves live transfers pending, unless a test says otherwise. */
async function shop(options: Partial<OstiaryOptions> = {}) {
  const given = await open(options, 'live');
  const { rail, call, list, work } = given;
  rail.answer = async () => ({ status: 'pending' });
  return {
    ...given,
    async send(body: object = payment): Promise<string> {
      const answer = await call('POST /v1/partner/payments', body);
      expect(answer.status).toBe(201);
      return String(answer.json().id);
    },
    shown: async (id: string): Promise<Json> => (await call(`GET /v1/partner/payments/${id}`)).json(),
    events: () => list('/v1/partner/events?limit=100'),
    async runAll() {
      while ((await work()) > 0);
    },
  };
}

describe('an event of a transfer', () => {
  it('tells once of each transfer that the rail completed or refused, with the transfer as it is shown', async () => {
    const { provider, rail, register, send, shown, runAll, events } = await shop();
    rail.answer = async ({ amount }) =>
      amount === 200n
        ? { status: 'failed', code: 'no_funds', message: 'Pa gen lajan. 🙂' }
        : { status: 'completed' };
    const endpoint = await sink();
    await register(endpoint.url, { events: ['*'] });
    const full = {
      ...payment,
      amount: '1.00',
      description: 'Lwaye “mas”',
      reference: 'r-1',
      metadata: { b: '2', a: 'é\u2028' },
    };
    const ids = [await send(full), await send({ ...payment, amount: '2.00' })];
    expect(await events()).toEqual([]);
    provider.clock.advance(1_500);
    const createdAt = new Date(provider.clock.now()).toISOString();
    await runAll();
    provider.clock.advance(60_000);
    await runAll();
    const published = await events();
    const byTransfer = (id: string) => published.find(({ data }) => (data as Json).id === id);
    expect(published).toHaveLength(2);
    for (const [id, type] of [
      [ids[0] ?? '', 'payment.completed'],
      [ids[1] ?? '', 'payment.failed'],
    ] as const) {
      const event = byTransfer(id);
      expect(event).toEqual({
        sequence: expect.any(Number),
        id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
        type,
        createdAt,
        mode: 'live',
        data: await shown(id),
      });
      expect(Object.keys(event?.data as Json)).toEqual(Object.keys(await shown(id)));
    }
    // What is sent is this and nothing else, member by member.
    const sent = endpoint.received.map(({ body }) => body.toString()).sort();
    expect(sent).toEqual(published.map(({ sequence: _, ...event }) => JSON.stringify(event)).sort());
  });

  it('is published by settling, once, whoever settles and however often', async () => {
    const { provider, send, shown, runAll, events } = await shop();
    const { payments } = provider.ostiary;
    const [good, bad] = [await send(), await send()];
    await runAll();
    expect(await events()).toEqual([]);
    provider.clock.advance(5_000);
    const completed = { status: 'completed' } as const;
    const failed = { status: 'failed', code: 'refused', message: 'Refused.' } as const;
    expect(await payments.settle(good, completed)).toEqual({ settled: true, transfer: await shown(good) });
    await payments.settle(bad, failed);
    for (const again of [completed, failed])
      for (const id of [good, bad])
        expect(await payments.settle(id, again)).toMatchObject({ settled: false });
    expect(await events()).toMatchObject([
      { sequence: 1, type: 'payment.completed', data: await shown(good) },
      { sequence: 2, type: 'payment.failed', data: await shown(bad) },
    ]);
  });

  it('comes once when the worker executes while the host settles', async () => {
    const { provider, rail, send, shown, events, runAll } = await shop();
    const ids = await Promise.all(Array.from({ length: 10 }, () => send()));
    rail.answer = async ({ id }) => {
      await provider.ostiary.payments.settle(id, { status: 'failed', code: 'host', message: 'First.' });
      return { status: 'completed' };
    };
    await runAll();
    const published = await events();
    expect(published.map(({ sequence }) => sequence)).toEqual(ids.map((_, index) => index + 1));
    for (const id of ids) {
      const own = published.filter(({ data }) => (data as Json).id === id);
      expect(own).toMatchObject([{ type: 'payment.failed', data: await shown(id) }]);
    }
  });

  it('shows a failure as the transfer does, however long and odd its words are', async () => {
    const { provider, send, shown, events } = await shop();
    for (const [code, message] of [
      ['c'.repeat(63).concat('🙂'), 'm'.repeat(499).concat('🙂')],
      ['half \ud83d', '\udc00 of a pair'],
      ['', ''],
      ['nul \0', 'nul \0'],
    ] as const) {
      const id = await send();
      await provider.ostiary.payments.settle(id, { status: 'failed', code, message });
      const event = (await events()).at(-1);
      expect(event?.data).toEqual(await shown(id));
      expect(JSON.stringify(event?.data).isWellFormed()).toBe(true);
    }
  });
});
