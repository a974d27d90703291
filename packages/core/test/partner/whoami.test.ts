import { describe, expect, it } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';

describe('whoami', () => {
  it('tells any key what it is, and nothing secret', async () => {
    const { provider } = await partnerProvider({ trustedProxies: ['127.0.0.1'] });
    const expiresAt = new Date(provider.clock.now() + 60_000);
    const key = await provider.key({ mode: 'test', scopes: ['webhooks'], name: 'till', expiresAt });
    const ask = (headers = {}) => provider.partnerCall(key, 'GET /v1/partner/whoami', undefined, headers);
    const answer = await ask({ 'x-forwarded-for': '203.0.113.7' });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      partner: key.partner,
      mode: 'test',
      key: {
        id: key.id,
        name: 'till',
        scopes: ['webhooks'],
        requireSignature: false,
        expiresAt: expiresAt.toISOString(),
      },
      address: '203.0.113.7',
    });
    expect((await ask({ 'x-forwarded-for': 'garbage' })).json().address).toBeNull();
  });
});
