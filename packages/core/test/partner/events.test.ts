import { describe, expect, it } from 'vitest';
import { storages, testPayment } from '../support/partner-api.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { sink } from '../webhooks/support/sink.ts';
import { register, trigger, webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';

const day = 24 * 3_600_000;

interface EventPage {
  readonly data: readonly (Json & { readonly sequence: number })[];
  readonly hasMore: boolean;
  readonly nextAfter: number;
  readonly oldestSequence: number | null;
}

async function shop(options: Parameters<typeof webhookProvider>[0] = {}) {
  const { provider } = await webhookProvider(options);
  const key = await provider.key({ mode: 'test' });
  const list = async (query = '', by: TestKey = key) =>
    (await provider.partnerCall(by, `GET /v1/partner/events${query}`)).json() as unknown as EventPage;
  const numbers = async (query = '', by: TestKey = key) =>
    (await list(query, by)).data.map(({ sequence }) => sequence);
  return { provider, key, list, numbers };
}

const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe.each(storages)('the sequence of events, on %s', (_name, newStorage) => {
  it('begins empty, and shows of each event what was sent', async () => {
    const { provider, key, list } = await shop({ storage: newStorage() });
    expect(await list()).toEqual({ data: [], hasMore: false, nextAfter: 0, oldestSequence: null });
    expect(await list('?after=7')).toEqual({ data: [], hasMore: false, nextAfter: 7, oldestSequence: null });
    const endpoint = await sink();
    await register(provider, key, endpoint.url);
    const event = await trigger(provider, key, 'kyc.updated');
    await provider.ostiary.worker.runDue();
    expect(await list()).toEqual({
      data: [{ sequence: 1, ...event }],
      hasMore: false,
      nextAfter: 1,
      oldestSequence: 1,
    });
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'kyc.updated',
      createdAt: new Date(provider.clock.now()).toISOString(),
      mode: 'test',
      data: expect.any(Object),
    });
    expect(endpoint.received.map(({ body }) => body.toString())).toEqual([JSON.stringify(event)]);
  });

  it('is one per partner and mode, with or without an endpoint', async () => {
    const { provider, key, numbers } = await shop({ storage: newStorage() });
    const stranger = await provider.key({ mode: 'test' });
    const live = await provider.key({ partner: key.partner });
    for (let index = 0; index < 3; index += 1) await trigger(provider, key);
    await trigger(provider, stranger);
    expect(await numbers()).toEqual([1, 2, 3]);
    expect(await numbers('', stranger)).toEqual([1]);
    expect(await numbers('', live)).toEqual([]);
    expect(await numbers('', await provider.key({ partner: key.partner, mode: 'test' }))).toEqual([1, 2, 3]);
  });

  it('goes on after a number, as far as there is something', async () => {
    const { provider, key, list, numbers } = await shop({ storage: newStorage() });
    for (let index = 0; index < 30; index += 1) await trigger(provider, key);
    expect(await numbers()).toEqual(upTo(25));
    expect(await numbers('?after=0')).toEqual(upTo(25));
    expect(await numbers('?after=28')).toEqual([29, 30]);
    expect(await numbers('?limit=100')).toEqual(upTo(30));
    const seen: number[] = [];
    let after = 0;
    let page: EventPage;
    do {
      page = await list(`?after=${after}&limit=7`);
      seen.push(...page.data.map(({ sequence }) => sequence));
      after = page.nextAfter;
      expect(after).toBe(seen.at(-1));
      expect(page.oldestSequence).toBe(1);
    } while (page.hasMore);
    expect(seen).toEqual(upTo(30));
    // The end is not a page more.
    expect(await list('?after=23&limit=7')).toMatchObject({ hasMore: false, nextAfter: 30 });
    for (const end of [30, 31, 999_999_999_999_999])
      expect(await list(`?after=${end}`)).toEqual({
        data: [],
        hasMore: false,
        nextAfter: end,
        oldestSequence: 1,
      });
  });

  it('starts with the oldest event that is kept, and never gives a number twice', async () => {
    const { provider, key, list, numbers } = await shop({ storage: newStorage() });
    const stranger = await provider.key({ mode: 'test' });
    await trigger(provider, stranger);
    for (let index = 0; index < 3; index += 1) await trigger(provider, key);
    provider.clock.advance(20 * day);
    for (let index = 0; index < 2; index += 1) await trigger(provider, key);
    provider.clock.advance(10 * day);
    await provider.ostiary.worker.runDue();
    // Thirty days to the millisecond: nothing is older than that.
    expect(await numbers()).toEqual(upTo(5));
    provider.clock.advance(10 * 60_000);
    await provider.ostiary.worker.runDue();
    for (const query of ['', '?after=0', '?after=2', '?after=3'])
      expect([query, await list(query)]).toMatchObject([
        query,
        { data: [{ sequence: 4 }, { sequence: 5 }], oldestSequence: 4, nextAfter: 5, hasMore: false },
      ]);
    expect(await list('?after=1&limit=1')).toMatchObject({
      data: [{ sequence: 4 }],
      oldestSequence: 4,
      nextAfter: 4,
      hasMore: true,
    });
    expect(await list('', stranger)).toMatchObject({ data: [], oldestSequence: null, nextAfter: 0 });
    provider.clock.advance(21 * day);
    await provider.ostiary.worker.runDue();
    expect(await list('?after=5')).toEqual({ data: [], hasMore: false, nextAfter: 5, oldestSequence: null });
    await trigger(provider, key);
    await trigger(provider, stranger);
    expect(await list()).toMatchObject({ data: [{ sequence: 6 }], oldestSequence: 6, nextAfter: 6 });
    expect(await numbers('', stranger)).toEqual([2]);
  });

  it('has no gap and nothing twice under 200 parallel transfers, settlements and sandbox events', async () => {
    const { provider, rail } = await webhookProvider({ storage: newStorage() });
    rail.answer = async () => ({ status: 'pending' });
    const live = await provider.key();
    const test = await provider.key({ partner: live.partner, mode: 'test' });
    const stranger = await provider.key({ mode: 'test' });
    for (const key of [live, test, stranger]) await register(provider, key, 'http://127.0.0.1:9/hook');
    const pay = async (key: TestKey, kid: string) =>
      String(
        (
          await provider.partnerCall(key, 'POST /v1/partner/payments', { ...testPayment, recipient: { kid } })
        ).json().id,
      );
    const ids = await Promise.all(upTo(60).map(() => pay(live, 'KID-ANA')));
    await Promise.all(upTo(30).map(() => pay(test, 'KID-TEST-APPROVED')));
    const work = Promise.all([
      ...ids.map((id, index) =>
        provider.ostiary.payments.settle(
          id,
          index % 2 === 0 ? { status: 'completed' } : { status: 'failed', code: 'no', message: 'No.' },
        ),
      ),
      // Each settled once, whoever comes first.
      ...ids.map((id) => provider.ostiary.payments.settle(id, { status: 'completed' })),
      ...upTo(50).map((index) => trigger(provider, index % 2 === 0 ? test : stranger)),
      ...upTo(4).map(() => provider.ostiary.worker.runDue()),
    ]);
    await work;
    for (let round = 0; round < 10; round += 1) await provider.ostiary.worker.runDue();
    for (const [key, count] of [
      [live, 60],
      [test, 25 + 30],
      [stranger, 25],
    ] as const) {
      const { data } = (
        await provider.partnerCall(key, 'GET /v1/partner/events?limit=100')
      ).json() as unknown as EventPage;
      expect(data.map(({ sequence }) => sequence)).toEqual(upTo(count));
      expect(new Set(data.map(({ id }) => id)).size).toBe(count);
      const transfers = data.map(({ data: sent }) => (sent as Json).id).filter((id) => id !== undefined);
      expect(new Set(transfers).size).toBe(transfers.length);
    }
  });
});

describe('a list of events', () => {
  it.each([
    ['after=-1', 'after'],
    ['after=', 'after'],
    ['after=01', 'after'],
    ['after=1.5', 'after'],
    ['after=1e3', 'after'],
    ['after=9007199254740993', 'after'],
    ['after=evt_1', 'after'],
    ['after=1&after=2', 'after'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['cursor=x', 'cursor'],
    ['type=webhook.test', 'type'],
  ])('%s is refused', async (query, path) => {
    const { provider, key } = await shop();
    expect(blamed(await provider.partnerCall(key, `GET /v1/partner/events?${query}`))).toEqual([path]);
  });
});
