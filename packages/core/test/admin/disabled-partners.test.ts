import { expect, it } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';
import { pkce } from '../support/provider.ts';

it('a disabled partner ends its clients: no page, no code, no token, no fields, no other origin', async () => {
  const { provider } = await partnerProvider();
  const { partners, clients } = provider.ostiary.admin;
  const key = await provider.key();
  const origin = 'https://only-here.example';
  const redirectUris = [`${origin}/callback`];
  const client = await provider.client({ partner: key.partner, redirectUris });
  const other = await provider.client();
  const browser = provider.browser();
  const token = await provider.token(client, 'openid profile', browser);
  const others = await provider.token(other, 'openid', browser);
  const { verifier, bound } = pkce();
  const code = await provider.code(client, bound, browser);
  const asked = (await browser.get(provider.authorizeUrl(client, { prompt: 'consent' }))).location ?? '';
  expect((await browser.get(asked)).status).toBe(200);
  const headers = { origin, 'access-control-request-method': 'POST' };
  const preflight = async () =>
    (await provider.request('/v1/oauth/token', { method: 'OPTIONS', headers })).headers.get(
      'access-control-allow-origin',
    );
  expect(await preflight()).toBe(origin);

  await partners.disable(key.partner);
  expect((await provider.userinfo(token)).json().error).toBe('invalid_token');
  const redeem = () => provider.redeem(client, code, { code_verifier: verifier });
  expect(await redeem()).toBe('401 invalid_client');
  const started = await browser.get(provider.authorizeUrl(client));
  expect([started.status, started.location]).toEqual([401, null]);
  expect((await browser.get(asked)).status).toBe(401);
  expect(await preflight()).toBeNull();
  expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(401);
  expect((await provider.userinfo(others)).status).toBe(200);
  // The user's own record of it stays, and can be taken back.
  expect((await browser.get(`${provider.origin}/account/apps`)).text).toContain('Test app');
  expect((await clients.get(client.id))?.disabledAt).toBeNull();
  expect(Object.keys((await clients.get(client.id)) ?? {})).not.toContain('partnerDisabled');

  await partners.enable(key.partner);
  expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(200);
  expect(await preflight()).toBe(origin);
  expect((await provider.userinfo(token)).status).toBe(401);
  expect(await redeem()).toBe('400 invalid_grant');
  // Consent is remembered: no page.
  expect(await provider.attempt(client, { prompt: 'none' }, browser)).toBe('code');
});
