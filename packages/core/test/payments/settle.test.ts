import { expect, it } from 'vitest';
import { till } from './till.ts';

const completed = { status: 'completed' } as const;
const failed = { status: 'failed', code: 'refused', message: 'Refused.' } as const;

it('a transfer that the rail leaves pending is not executed again; the host settles it once, with an event', async () => {
  const { rail, pay, show, events, settle, work, later } = await till();
  rail.answer = async () => ({ status: 'pending' });
  const [good, bad] = [await pay(), await pay()];
  await work();
  await later(2 * 3_600_000);
  expect([rail.orders.length, await events()]).toEqual([2, []]);
  const outcomes = await Promise.all([completed, completed, failed].map((result) => settle(good, result)));
  expect(outcomes.map((outcome) => outcome?.settled)).toEqual([true, false, false]);
  expect(outcomes[0]?.transfer).toEqual(await show(good));
  await settle(bad, failed);
  for (const again of [completed, failed])
    for (const id of [good, bad])
      expect(await settle(id, again)).toEqual({ settled: false, transfer: await show(id) });
  expect(await events()).toMatchObject([
    { sequence: 1, type: 'payment.completed', data: await show(good) },
    { sequence: 2, type: 'payment.failed', data: await show(bad) },
  ]);
  expect(await settle('tr_nobody', completed)).toBeNull();
});
