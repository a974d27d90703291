import { describe, expect, it } from 'vitest';
import type { Json, TestKey } from '../support/provider.ts';
import { blamed } from './refusal.ts';
import { hooks, shop, url } from './webhook-shop.ts';

const { provider, register, trigger } = await shop();

const transfersOf = (key: TestKey, query: string) =>
  provider.partnerCall(key, `GET /v1/partner/payments?${query}`);
const deliveriesOf = (key: TestKey, id: string, query: string) =>
  provider.partnerCall(key, `GET ${hooks}/${id}/deliveries?${query}`);

/**
 * Starts a list of deliveries to which the test can add rows. The SDK's tests cover the list of transfers,
 * which uses the same cursors.
 */
async function opened() {
  const key = await provider.key({ mode: 'test' });
  const id = await register(url, {}, key);
  const list = (query: string, by = key) => deliveriesOf(by, id, query);
  return { key, list, add: async () => (await trigger('webhook.test', key)).id };
}

describe('a list', () => {
  it('comes page by page, newest first, each row once, even if rows are added in between', async () => {
    const { list, add } = await opened();
    const sent: unknown[] = [];
    for (let index = 0; index < 7; index += 1) {
      // Some share a millisecond.
      if (index % 3 === 0) provider.clock.advance(1);
      sent.push(await add());
    }
    provider.clock.advance(1);
    const seen: Json[] = [];
    for (let cursor: unknown = ''; cursor !== null; ) {
      const { data, nextCursor } = (await list(`limit=2${cursor}`)).json();
      seen.push(...(data as Json[]));
      await add();
      cursor = nextCursor && `&cursor=${nextCursor}`;
    }
    expect(seen.map(({ eventId }) => eventId).sort()).toEqual(sent.toSorted());
    // Newest first; those of the same millisecond by id.
    const order = seen.map(({ createdAt, id }) => `${createdAt} ${id}`);
    expect(order).toEqual([...new Set(order)].sort().reverse());
    for (let index = 0; index < 20; index += 1) await add();
    // The default page size is 25.
    expect((await list('')).json().data).toHaveLength(25);
  });

  it('refuses an invalid cursor, and never shows rows of other partners with any cursor', async () => {
    const { key, list, add } = await opened();
    for (let index = 0; index < 3; index += 1) await add();
    const cursor = String((await list('limit=1')).json().nextCursor);
    // Another key of the same partner and mode can continue with this cursor.
    const sibling = await provider.key({ partner: key.partner, mode: 'test' });
    expect((await list(`cursor=${cursor}`, sibling)).json().data).toHaveLength(2);
    const strangers = [await provider.key({ mode: 'test' }), await provider.key({ partner: key.partner })];
    for (const by of strangers) {
      const id = await register(url, {}, by);
      expect((await deliveriesOf(by, id, `cursor=${cursor}`)).json().data).toEqual([]);
    }
    expect((await transfersOf(key, `cursor=${cursor}`)).json().data).toEqual([]);
    const decoded = Buffer.from(cursor, 'base64url').toString();
    const [time = '', id = ''] = decoded.split(/_(.*)/);
    const forged = [
      time,
      id,
      `${time}_`,
      `_${id}`,
      `x${decoded}`,
      `-${decoded}`,
      `${decoded}\0`,
      `${decoded}'`,
      `9999${decoded}`,
    ];
    for (const text of forged) {
      const encoded = Buffer.from(text).toString('base64url');
      expect.soft(blamed(await list(`cursor=${encoded}`)), text).toEqual(['cursor']);
    }
  });
});
