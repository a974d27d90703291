import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { storages } from '../support/partner-api.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { type Sink, sink } from '../webhooks/support/sink.ts';
import { register, trigger, webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { expectNewestFirst, expectSealed, walk } from './cursors.ts';
import { blamed } from './refusal.ts';

const nowhere = 'http://127.0.0.1:9/hook';

async function shop(options: Parameters<typeof webhookProvider>[0] = {}) {
  const { provider } = await webhookProvider(options);
  const key = await provider.key({ mode: 'test' });
  const list = (id: string, query = '', by: TestKey = key): Promise<Answer> =>
    provider.partnerCall(by, `GET /v1/partner/webhooks/${id}/deliveries${query}`);
  const dataOf = async (id: string, query = '') => (await list(id, query)).json().data as Json[];
  return { provider, key, list, dataOf };
}

describe.each(storages)('deliveries of an endpoint, on %s', (_name, newStorage) => {
  it('are shown with their attempts, from the first one on', async () => {
    const { provider, key, list } = await shop({ storage: newStorage() });
    const endpoint: Sink = await sink();
    endpoint.answer = (response) => void response.writeHead(500).end('no, thank you 🙂');
    const id = await register(provider, key, endpoint.url);
    expect((await list(id)).json()).toEqual({ data: [], nextCursor: null });

    const event = await trigger(provider, key);
    const createdAt = new Date(provider.clock.now()).toISOString();
    const fresh = (await list(id)).json();
    expect(fresh).toEqual({
      data: [
        {
          id: expect.stringMatching(/^dl_[0-9a-f]{32}_1$/),
          eventId: event.id,
          eventType: 'webhook.test',
          endpointId: id,
          status: 'pending',
          createdAt,
          nextAttemptAt: createdAt,
          attempts: [],
        },
      ],
      nextCursor: null,
    });

    provider.clock.advance(500);
    const first = new Date(provider.clock.now()).toISOString();
    await provider.ostiary.worker.runDue();
    provider.clock.advance(60_000);
    const second = new Date(provider.clock.now()).toISOString();
    endpoint.answer = (response) => void response.writeHead(299, { 'content-type': 'text/html' }).end();
    await provider.ostiary.worker.runDue();
    expect((await list(id)).json().data).toEqual([
      {
        ...(fresh.data as Json[])[0],
        status: 'delivered',
        nextAttemptAt: null,
        attempts: [
          {
            number: 1,
            at: first,
            durationMs: expect.any(Number),
            httpStatus: 500,
            error: 'status',
            response: 'no, thank you 🙂',
          },
          {
            number: 2,
            at: second,
            durationMs: expect.any(Number),
            httpStatus: 299,
            error: null,
            response: '',
          },
        ],
      },
    ]);
  });

  it('can be told by their status', async () => {
    const { provider, key, dataOf } = await shop({
      storage: newStorage(),
      webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [] },
    });
    const endpoint = await sink();
    const id = await register(provider, key, endpoint.url);
    const delivered = await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    endpoint.answer = (response) => void response.writeHead(400).end();
    const dropped = await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    const cancelled = await trigger(provider, key);
    for (const enabled of [false, true])
      await provider.partnerCall(key, `PATCH /v1/partner/webhooks/${id}`, { enabled });
    const pending = await trigger(provider, key);
    for (const [status, event] of Object.entries({ delivered, dropped, cancelled, pending })) {
      const found = await dataOf(id, `?status=${status}`);
      expect([status, found.map(({ eventId }) => eventId)]).toEqual([status, [event.id]]);
      expect(found[0]).toMatchObject({ status });
    }
    expect(await dataOf(id)).toHaveLength(4);
  });

  it('come page by page, newest first, each once, whatever is added in between', async () => {
    const { provider, key, list, dataOf } = await shop({ storage: newStorage() });
    const id = await register(provider, key, nowhere);
    const other = await register(provider, key, `${nowhere}/other`);
    const sent: unknown[] = [];
    for (let index = 0; index < 7; index += 1) {
      // Some in the same millisecond.
      if (index % 3 === 0) provider.clock.advance(1);
      sent.push((await trigger(provider, key)).id);
    }
    provider.clock.advance(1);
    for (const size of [1, 2, 3, 7, 100]) {
      const ask = (query: string) => list(id, `?${query}`);
      const { seen, pages } = await walk(ask, size, async () => size === 2 && trigger(provider, key));
      const own = seen.filter(({ eventId }) => sent.includes(eventId));
      expect([size, own.map(({ eventId }) => eventId).sort()]).toEqual([size, sent.toSorted()]);
      expect(seen.map(({ endpointId }) => endpointId)).toEqual(seen.map(() => id));
      expectNewestFirst(seen);
      expect(pages).toBe(Math.ceil(seen.length / size));
    }
    // Without a size there are 25 on a page.
    for (let index = 0; index < 20; index += 1) await trigger(provider, key);
    expect(await dataOf(id)).toHaveLength(25);
    expect(await dataOf(other, '?limit=100')).toHaveLength(7 + 4 + 20);
  });

  it('of one status come page by page too', async () => {
    const { provider, key, list } = await shop({ storage: newStorage() });
    const id = await register(provider, key, (await sink()).url);
    for (let index = 0; index < 5; index += 1) {
      await trigger(provider, key);
      if (index % 2 === 0) await provider.ostiary.worker.runDue();
      provider.clock.advance(1);
    }
    await trigger(provider, key);
    const first = (await list(id, '?status=delivered&limit=3')).json();
    const rest = (await list(id, `?status=delivered&limit=3&cursor=${first.nextCursor}`)).json();
    const all = [...(first.data as Json[]), ...(rest.data as Json[])];
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'delivered'));
    expect(new Set(all.map(({ id: name }) => name)).size).toBe(5);
    expect(rest.nextCursor).toBeNull();
  });
});

describe('a list of deliveries', () => {
  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=failed', 'status'],
    ['status=', 'status'],
    ['status=pending&status=dropped', 'status'],
    ['eventId=x', 'eventId'],
    ['cursor=', 'cursor'],
    ['cursor=x', 'cursor'],
    ['cursor=%00', 'cursor'],
    [`cursor=${'A'.repeat(301)}`, 'cursor'],
  ])('%s is refused', async (query, path) => {
    const { provider, key, list } = await shop();
    expect(blamed(await list(await register(provider, key, nowhere), `?${query}`))).toEqual([path]);
  });

  it('takes no cursor that was changed, or written for another endpoint, partner or mode', async () => {
    const { provider, key, list } = await shop();
    const live = await provider.key({ partner: key.partner });
    const stranger = await provider.key({ mode: 'test' });
    const [id, other] = [await register(provider, key, nowhere), await register(provider, key, nowhere)];
    const foreign = [
      [await register(provider, live, nowhere), live],
      [await register(provider, stranger, nowhere), stranger],
    ] as const;
    for (let index = 0; index < 3; index += 1) await trigger(provider, key);
    const listOf = (endpoint: string, by?: TestKey) => (query: string) => list(endpoint, `?${query}`, by);
    const payments = (query: string) => provider.partnerCall(key, `GET /v1/partner/payments?${query}`);
    await expectSealed(listOf(id), [
      listOf(other),
      ...foreign.map(([endpoint, by]) => listOf(endpoint, by)),
      payments,
    ]);
    // Another key of the same partner and mode goes on where this one was.
    const cursor = String((await list(id, '?limit=1')).json().nextCursor);
    const sibling = await provider.key({ partner: key.partner, mode: 'test' });
    expect((await list(id, `?cursor=${cursor}`, sibling)).json().data).toHaveLength(2);
  });
});
