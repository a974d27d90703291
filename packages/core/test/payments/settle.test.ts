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

it('a settlement says completed, or failed with code and message', async () => {
  const { pay, settle } = await till();
  const id = await pay();
  for (const wrong of [{}, { code: 'x' }, { message: 'x' }].map((part) => ({ status: 'failed', ...part })))
    await expect(settle(id, wrong as never)).rejects.toThrow(expect.any(TypeError));
  for (const wrong of [{ status: 'pending' }, {}])
    await expect(settle(id, wrong as never)).rejects.toThrow(TypeError);
});

it('a failure has the same text in the event and in the transfer, even if it is long and unusual', async () => {
  const { pay, show, events, settle } = await till();
  for (const [code, message, shown] of [
    ['c'.repeat(100), 'm'.repeat(600), { code: 'c'.repeat(64), message: 'm'.repeat(500) }],
    ['c'.repeat(63).concat('🙂'), 'm'.repeat(499).concat('🙂')],
    ['half \ud83d', '\udc00 of a pair'],
    ['', ''],
    ['nul \0', 'nul \0'],
  ] as const) {
    const id = await pay();
    await settle(id, { status: 'failed', code, message });
    const { data } = (await events()).at(-1) ?? {};
    expect(data).toEqual(await show(id));
    expect(JSON.stringify(data).isWellFormed()).toBe(true);
    if (shown !== undefined) expect(data).toMatchObject({ failure: shown });
  }
});
