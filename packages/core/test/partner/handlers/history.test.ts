import { expect, it } from 'vitest';
import type { Json } from '../../support/provider.ts';
import { reader, wire } from '../request-reader.ts';

it('signs nothing for other partners, and nothing in live mode', async () => {
  const { provider, key, call, register, trigger, work, read } = await reader();
  const endpoint = await wire();
  const secret = 'whsec_of_this_test_alone';
  const id = await register(endpoint.url, { secret, events: ['*'] });
  const event = String((await trigger()).id);
  await work();
  expect(JSON.stringify(await read(key, event))).not.toContain(secret);
  expect(await read(key, event, { endpointId: id })).toEqual(await read(key, event));
  expect(await read(key, event, { endpointId: `we_${'0'.repeat(32)}` })).toEqual([]);
  const stranger = await provider.key({ mode: 'test' });
  expect(await read(stranger, event)).toEqual([]);
  const live = await provider.key({ partner: key.partner });
  expect(await read(live, event)).toEqual([]);

  await register(endpoint.url, { secret, events: ['*'] }, live);
  const payment: Json = { amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } };
  const { id: transfer } = (await call('POST /v1/partner/payments', payment, live)).json();
  await provider.ostiary.payments.settle(String(transfer), { status: 'completed' });
  await work();
  const { data } = (await call('GET /v1/partner/events', undefined, live)).json() as { data: Json[] };
  const requests = await read(live, String(data[0]?.id));
  expect(requests).toEqual([[null]]);
});
