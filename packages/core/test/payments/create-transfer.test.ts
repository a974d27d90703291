import { expect, it } from 'vitest';
import { payment } from '../support/partner-api.ts';
import { till } from './till.ts';

it('a transfer that is created twice with one Idempotency-Key is paid once, with equal responses', async () => {
  const { provider, key, rail, work } = await till();
  const pay = () =>
    provider.partnerCall(key, 'POST /v1/partner/payments', payment, { 'idempotency-key': 'order 7' });
  const answers = await Promise.all([pay(), pay(), pay()]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const replayed = answers.map(({ headers }) => headers.get('idempotent-replayed'));
  expect(replayed.filter((value) => value === 'true')).toHaveLength(2);
  await work();
  expect(rail.orders).toHaveLength(1);
});

it('a transfer and its job are stored together or not at all', async () => {
  const { database, call, list, rail, work } = await till();
  database.breakWhen((call) => call === 'transfers.create');
  expect((await call('POST /v1/partner/payments', payment)).status).toBe(503);
  database.breakWhen(null);
  await work();
  expect([await list('/v1/partner/payments'), rail.orders]).toEqual([[], []]);
});
