import { expect, it } from 'vitest';
import { testPayment } from '../support/partner-api.ts';
import { till } from './till.ts';

it('moves nothing in test mode: the cents of the amount decide, and the host is not asked', async () => {
  const { provider, rail, key, pay, show, work } = await till();
  const test = await provider.key({ mode: 'test', partner: key.partner });
  for (const [amount, status, failure] of [
    ['10.00', 'completed', null],
    ['10.01', 'failed', { code: 'sandbox_failure' }],
    ['10.02', 'pending', null],
    ['0.01', 'failed', { code: 'sandbox_failure' }],
    ['100.03', 'completed', null],
  ] as const) {
    const id = await pay({ ...testPayment, amount }, test);
    await work();
    expect(await show(id, test)).toMatchObject({ amount, status, failure });
  }
  expect(rail.orders).toEqual([]);
});
