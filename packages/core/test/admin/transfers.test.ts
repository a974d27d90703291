import { expect, it } from 'vitest';
import { partnerProvider, payment } from '../support/partner-api.ts';

it('operators read a transfer as the partner API returns it, and of its own partner and mode only', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key({ mode: 'live' });
  const { id } = (await provider.partnerCall(key, 'POST /v1/partner/payments', payment)).json();
  const shown = (await provider.partnerCall(key, `GET /v1/partner/payments/${id}`)).json();
  const { transfers } = provider.ostiary.admin;
  const owner = { partner: key.partner, mode: 'live' } as const;
  expect(await transfers.get(owner, String(id))).toEqual(shown);
  const { partner } = await provider.key();
  expect(await transfers.get({ ...owner, partner }, String(id))).toBeNull();
  expect(await transfers.get({ ...owner, mode: 'test' }, String(id))).toBeNull();
  expect(await transfers.get(owner, 'tr_nobody')).toBeNull();
});

it('operators page through the transfers of a partner in both directions, and count them', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key({ mode: 'live' });
  const { transfers } = provider.ostiary.admin;
  const owner = { partner: key.partner, mode: 'live' } as const;
  const made: string[] = [];
  for (let number = 0; number < 5; number += 1) {
    const answer = await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
    made.unshift(String(answer.json().id));
    provider.clock.advance(1_000);
  }
  const idsOf = (page: Awaited<ReturnType<typeof transfers.list>>) => page.transfers.map(({ id }) => id);
  const first = await transfers.list(owner, { limit: 2 });
  expect([idsOf(first), first.previous]).toEqual([made.slice(0, 2), null]);
  const second = await transfers.list(owner, { limit: 2, after: String(first.next) });
  expect(idsOf(second)).toEqual(made.slice(2, 4));
  const last = await transfers.list(owner, { limit: 2, after: String(second.next) });
  expect([idsOf(last), last.next]).toEqual([made.slice(4), null]);
  const back = await transfers.list(owner, { limit: 2, before: String(last.previous) });
  expect(back).toEqual(second);
  expect(await transfers.list(owner, { limit: 2, before: String(back.previous) })).toEqual(first);
  expect(await transfers.count(owner)).toBe(5);
  expect(await transfers.count(owner, { status: 'completed' })).toBe(0);
  expect(await transfers.count(owner, { from: new Date(provider.clock.now() - 2_500) })).toBe(2);
  expect(await transfers.count({ ...owner, mode: 'test' })).toBe(0);
  await expect(transfers.list(owner, { before: 'x' })).rejects.toThrow('before: is not a place in this list');
  await expect(transfers.count(owner, { status: 'x' as never })).rejects.toThrow(TypeError);
});
