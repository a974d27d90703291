import { expect, it } from 'vitest';
import { partnerProvider } from '../../support/partner-api.ts';

it('whoami describes the key of the request, without secrets', async () => {
  const { provider } = await partnerProvider({ trustedProxies: ['127.0.0.1'] });
  const expiresAt = new Date(provider.clock.now() + 60_000);
  const own = await provider.key({ mode: 'test', scopes: ['webhooks'], name: 'till', expiresAt });
  const from = async (address: string) => {
    const headers = { 'x-forwarded-for': address };
    return (await provider.partnerCall(own, 'GET /v1/partner/whoami', undefined, headers)).json();
  };
  const shown = { id: own.id, name: 'till', scopes: ['webhooks'], requireSignature: false };
  const key = { ...shown, expiresAt: expiresAt.toISOString() };
  const whoami = { partner: own.partner, mode: 'test', key, address: '203.0.113.7' };
  expect(await from('203.0.113.7')).toEqual(whoami);
  expect(await from('garbage')).toMatchObject({ address: null });
});
