import { beforeAll, describe, expect, it } from 'vitest';
import { manyRequests, payment, TestRail } from '../support/partner-api.ts';
import { type TestKey, TestProvider } from '../support/provider.ts';
import { expectNewestFirst, expectSealed, walk } from './cursors.ts';
import { blamed } from './refusal.ts';

const pay = 'POST /v1/partner/payments';
let provider: TestProvider;
let key: TestKey;

beforeAll(async () => {
  provider = await TestProvider.start({ payments: new TestRail(), partnerLimits: manyRequests });
  key = await provider.key();
  return () => provider.stop();
});

describe('a list of transfers', () => {
  const list = (query: string, by = key) => provider.partnerCall(by, `GET /v1/partner/payments?${query}`);

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=', 'limit'],
    ['limit=٣', 'limit'],
    ['status=done', 'status'],
    ['status=', 'status'],
    ['createdFrom=yesterday', 'createdFrom'],
    ['createdFrom=2026-01-01', 'createdFrom'],
    ['createdTo=2026-02-30T00:00:00Z', 'createdTo'],
    ['createdFrom=2026-01-01T00:00:00.001Z&createdTo=2026-01-01T00:00:00Z', 'createdFrom'],
    ['createdFrom=2026-02-01T00:00:00Z&createdTo=2026-01-01T00:00:00Z&limit=1', 'createdFrom'],
    ['createdFrom=9999-12-31T23:59:59Z&createdTo=yesterday', 'createdTo'],
    ['page=2', 'page'],
    ['limit=1&limit=2', 'limit'],
    ['reference=%00', 'reference'],
    ['cursor=', 'cursor'],
    ['cursor=x', 'cursor'],
    ['__proto__=1', '__proto__'],
  ])('%s is refused', async (query, path) => {
    expect(blamed(await list(query))).toEqual([path]);
  });

  it('pages through all of them, newest first, each once, whatever comes in between', async () => {
    const own = await provider.key();
    const add = async () => (await provider.partnerCall(own, pay, payment)).json().id;
    const sent: unknown[] = [];
    for (let index = 0; index < 7; index += 1) {
      if (index % 3 === 0) provider.clock.advance(1);
      sent.push(await add());
    }
    const { seen } = await walk(
      (query) => list(query, own),
      2,
      async () => {
        await add();
        provider.clock.advance(1);
      },
    );
    expect(seen.map(({ id }) => id).sort()).toEqual(sent.sort());
    expectNewestFirst(seen);
  });

  it('filters by status, reference and creation, the end excluded', async () => {
    const own = await provider.key();
    const at = new Date(provider.clock.now()).toISOString();
    await provider.partnerCall(own, pay, { ...payment, reference: 'a&b = ü' });
    provider.clock.advance(1_000);
    const later = new Date(provider.clock.now()).toISOString();
    await provider.partnerCall(own, pay, payment);
    const found = async (query: string) => ((await list(query, own)).json().data as unknown[]).length;
    expect(await found(`reference=${encodeURIComponent('a&b = ü')}`)).toBe(1);
    expect(await found('reference=A')).toBe(0);
    expect([await found(`createdFrom=${at}`), await found(`createdFrom=${later}`)]).toEqual([2, 1]);
    expect([await found(`createdTo=${at}`), await found(`createdTo=${later}`)]).toEqual([0, 1]);
    // A range may be empty, and not run backwards.
    expect(await found(`createdFrom=${at}&createdTo=${at}`)).toBe(0);
    // The same moment as another clock shows it.
    const far = encodeURIComponent(
      `${new Date(Date.parse(later) + 5_400_000).toISOString().slice(0, -1)}+01:30`,
    );
    expect([await found(`createdFrom=${far}`), await found(`createdTo=${far}`)]).toEqual([1, 1]);
    expect([await found('status=pending'), await found('status=completed')]).toEqual([2, 0]);
  });

  it('takes no cursor that was changed, or written for somebody else', async () => {
    const own = await provider.key();
    for (let index = 0; index < 3; index += 1) await provider.partnerCall(own, pay, payment);
    const others = [await provider.key(), await provider.key({ partner: own.partner, mode: 'test' })];
    const listOf = (key: TestKey) => (query: string) => list(query, key);
    await expectSealed(listOf(own), others.map(listOf));
    // Another key of the same partner and mode goes on where this one was.
    const cursor = String((await list('limit=1', own)).json().nextCursor);
    expect((await list(`cursor=${cursor}`, await provider.key({ partner: own.partner }))).status).toBe(200);
  });
});
