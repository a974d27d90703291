import { expect, it } from 'vitest';
import { operatorRoles } from '../../src/index.ts';
import { partnerProvider, payment, testPayment } from '../support/partner-api.ts';

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

it('operators list the transfers of all partners in both directions, narrowed and counted', async () => {
  const { provider } = await partnerProvider();
  const keys = [await provider.key({ mode: 'live' }), await provider.key({ mode: 'live' })];
  const { transfers } = provider.ostiary.admin;
  const made: { readonly id: string; readonly partner: string }[] = [];
  for (const key of [...keys, ...keys]) {
    const answer = await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
    made.unshift({ id: String(answer.json().id), partner: key.partner });
    provider.clock.advance(1_000);
  }
  const shownIn = ({ rows }: Awaited<ReturnType<typeof transfers.sorted>>) =>
    rows.map(({ id, partner }) => ({ id, partner }));
  const first = await transfers.sorted({ limit: 3 });
  expect([shownIn(first), first.previous]).toEqual([made.slice(0, 3), null]);
  const second = await transfers.sorted({ limit: 3, after: String(first.next) });
  expect([shownIn(second), second.next]).toEqual([made.slice(3), null]);
  expect(await transfers.sorted({ limit: 3, before: String(second.previous) })).toEqual(first);
  expect(shownIn(await transfers.sorted({ descending: false }))).toEqual(made.toReversed());
  const [partner = ''] = made.map((one) => one.partner);
  expect(shownIn(await transfers.sorted({ partner }))).toEqual(made.filter((one) => one.partner === partner));
  expect(await transfers.countSorted()).toBe(4);
  expect(await transfers.countSorted({ partner })).toBe(2);
  expect(await transfers.countSorted({ mode: 'test' })).toBe(0);
  expect(await transfers.countSorted({ status: 'completed' })).toBe(0);
  expect(await transfers.countSorted({ from: new Date(provider.clock.now() - 2_500) })).toBe(2);
  await expect(transfers.sorted({ status: 'x' as never })).rejects.toThrow(TypeError);
  const to = new Date(provider.clock.now() - 2_500);
  expect(shownIn(await transfers.sorted({ to }))).toEqual(made.slice(2));
  expect(await transfers.countSorted({ to })).toBe(2);
  expect((await transfers.sorted({ status: 'completed' })).rows).toEqual([]);
  const test = await provider.key({ mode: 'test' });
  await provider.partnerCall(test, 'POST /v1/partner/payments', testPayment);
  expect((await transfers.sorted({ mode: 'test' })).rows).toMatchObject([
    { mode: 'test', partner: test.partner },
  ]);
  await expect(transfers.sorted({ reference: 'x' } as never)).rejects.toThrow(TypeError);
});

it('operators find the event of a transfer, however many events came before and after it', async () => {
  const { provider, database } = await partnerProvider();
  const key = await provider.key({ mode: 'live' });
  const owner = { partner: key.partner, mode: 'live' } as const;
  const pay = async () =>
    String((await provider.partnerCall(key, 'POST /v1/partner/payments', payment)).json().id);
  /** Publishes more events at the current time than are searched. */
  async function publishOthers() {
    const createdAt = provider.clock.now();
    const others = Array.from({ length: 1_001 }, (_, number) => ({
      ...{ ...owner, type: 'payment.completed', createdAt, deliveryId: `dl_${createdAt}_${number}` },
      ...{ id: `evt_${createdAt}_${number}`, body: JSON.stringify({ data: { id: `tr_${number}` } }) },
    }));
    await database.storage.events.publish(others, { idempotency: null, now: createdAt });
  }
  await publishOthers();
  provider.clock.advance(1);
  const paid = [await pay(), await pay()];
  const { transfers } = provider.ostiary.admin;
  expect(await transfers.event(owner, String(paid[0]))).toBeNull();
  await provider.ostiary.worker.runDue();
  provider.clock.advance(1);
  await publishOthers();
  const found = await Promise.all(paid.map((id) => transfers.event(owner, id)));
  expect(found).toMatchObject([{ type: 'payment.completed' }, { type: 'payment.completed' }]);
  expect(found[0]?.id).not.toBe(found[1]?.id);
});

it('operators without the right read no transfers, files or consents, but the sums of a day', async () => {
  const { provider } = await partnerProvider();
  const { partner } = await provider.key({ mode: 'live' });
  const owner = { partner, mode: 'live' } as const;
  const admin = provider.ostiary.admin.as('vera', { may: operatorRoles.viewer });
  const day = { ...owner, from: '2026-01-01', to: '2026-01-01' };
  const titles = { id: '', createdAt: '', completedAt: '' } as never;
  for (const call of [
    () => admin.transfers.list(owner),
    () => admin.transfers.count(owner),
    () => admin.transfers.sorted(),
    () => admin.transfers.countSorted(),
    () => admin.transfers.get(owner, 'tr_1'),
    () => admin.transfers.event(owner, 'tr_1'),
    () => admin.reconciliation.export({ ...day, format: 'csv' }),
    () => admin.reconciliation.spreadsheet({ ...day, timeZone: 'UTC', separator: ',', decimal: '.', titles }),
    () => admin.consents.list('u-1'),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'access_denied', status: 403 });
  expect(await admin.reconciliation.summary({ ...day, format: 'csv' })).toMatchObject({ rows: 0 });
  const support = provider.ostiary.admin.as('bob', { may: operatorRoles.support });
  expect(await support.transfers.countSorted()).toBe(0);
  expect(await support.consents.list('u-1')).toEqual([]);
});
