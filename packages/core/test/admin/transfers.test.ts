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
