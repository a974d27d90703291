import { describe, expect, it } from 'vitest';
import { partnerProvider } from '../../support/partner-api.ts';
import { blamed } from '../refusal.ts';

const { provider } = await partnerProvider();

describe('the scope step', () => {
  it('refuses a key without the scope of the route, and names that scope', async () => {
    const key = await provider.key({ scopes: ['payments:read'] });
    for (const [target, scope] of [
      ['GET /v1/partner/users/KID-ANA', 'users:read'],
      ['POST /v1/partner/payments', 'payments:write'],
      ['GET /v1/partner/webhooks', 'webhooks'],
    ] as const) {
      const answer = await provider.partnerCall(key, target);
      expect(blamed(answer, 403, 'insufficient_scope')).toEqual([]);
      expect(answer.json().message).toBe(`The API key lacks the scope ${scope}.`);
    }
    expect((await provider.partnerCall(key, 'GET /v1/partner/payments')).status).toBe(200);
  });

  it('lets any key use a route that needs none', async () => {
    const key = await provider.key({ scopes: ['reconciliation:read'] });
    expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(200);
  });

  it('hides the sandbox from live keys with any scopes, and says why', async () => {
    for (const scopes of [['identity:verify'], ['webhooks']] as const) {
      const answer = await provider.partnerCall(
        await provider.key({ mode: 'live', scopes }),
        'POST /v1/partner/sandbox/passports',
      );
      expect(blamed(answer, 404, 'not_found')).toEqual([]);
      expect(answer.json().message).toContain('needs a test key');
    }
    const test = await provider.key({ mode: 'test', scopes: ['identity:verify'] });
    expect((await provider.partnerCall(test, 'POST /v1/partner/sandbox/passports')).status).toBe(201);
  });
});
