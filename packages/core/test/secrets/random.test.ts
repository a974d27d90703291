import { expect, it } from 'vitest';
import { newId, systemRandom } from '../../src/secrets/random.ts';
import { answering } from '../partner/webhook-shop.ts';
import { till } from '../payments/till.ts';

it('ids sort by the time at which they were made, and differ within one', () => {
  const times = [0, 1, 0xff, 1_795_680_000_000, 1_795_680_000_001, 2 ** 48 - 1];
  const ids = times.map((at) => newId('evt', systemRandom, at));
  expect(ids).toEqual(ids.toSorted());
  for (const id of ids) expect(id).toMatch(/^evt_[0-9a-f]{32}$/);
  const together = Array.from({ length: 10_000 }, () => newId('tr', systemRandom, 1_795_680_000_000));
  expect(new Set(together.map((id) => id.slice(-20))).size).toBe(together.length);
});

it('payments, their events, deliveries and those again sort as they were made', async () => {
  const { provider, key, pay, events, register, deliveries, call, later } = await till();
  const endpoint = await register((await answering(200)).url, { events: ['*'] });
  const payments = [await pay()];
  await later(1);
  payments.push(await pay());
  await later(1);
  const told = (await events()).map(({ id }) => String(id));
  expect((await call(`POST /v1/partner/events/${told[0]}/redeliver`, {})).status).toBe(200);
  await later(1);
  await provider.ostiary.admin.webhooks.redeliver({ partner: key.partner, mode: key.mode }, told[0] ?? '');
  const sent = (await deliveries(endpoint)).map(({ id }) => String(id)).toReversed();
  expect([payments, told, sent].map(({ length }) => length)).toEqual([2, 2, 4]);
  for (const ids of [payments, told, sent]) expect(ids).toEqual(ids.toSorted());
});
