import { expect, it } from 'vitest';
import { till } from './till.ts';

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
