import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ana, ben, Host } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const consent = {
  en: { title: 'See your orders', detail: 'What you bought.' },
  fr: { title: 'Voir vos commandes', detail: 'Ce que vous avez acheté.' },
};
const host = new Host();
host.people.set(ana.sub, { ...ana, email: 'ana@example.com', claims: { orders: ['A-1'] } });
const scopes = { email: true, orders: { claims: { orders: z.array(z.string()) }, consent } };
const find = vi.fn(host.users.find);
const provider = await startProvider(
  { scopes, refreshTokens: {}, claimsParameter: true, users: { ...host.users, find } },
  host,
);
const client = await provider.client({
  allowedScopes: ['openid', 'profile', 'email', 'orders', 'kyc'],
  refreshWithoutOfflineAccess: true,
});
const asking = (claims: unknown) => ({ claims: JSON.stringify(claims) });

/** Returns the claims of an ID token about its user, without those of the protocol such as `iss` and `nonce`. */
function extras(idToken: unknown): object {
  const protocol = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', 'sid'];
  return Object.fromEntries(
    Object.entries(decodeJwt(String(idToken))).filter(([name]) => !protocol.includes(name)),
  );
}

describe('claims for the ID token', () => {
  it('are those that the approved scopes cover, after a refresh too, and userinfo stays as it is', async () => {
    const id_token = { email: null, name: { essential: true }, orders: null, kycTier: null, nothing: null };
    const wanted = asking({ id_token, userinfo: { kycTier: { essential: true }, email: null } });
    const tokens = await provider.tokens(client, { scope: 'openid profile email', ...wanted });
    const shown = { email: 'ana@example.com', name: ana.name };
    expect(extras(tokens.id_token)).toEqual(shown);
    const userinfo = (await provider.userinfo(String(tokens.access_token))).json();
    expect(userinfo).toMatchObject({ ...shown, handle: ana.handle });
    expect(userinfo).not.toHaveProperty('kycTier');
    const refreshed = async (scope: string) => {
      const answer = await provider.call('/v1/oauth/token', {
        ...{ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, scope },
        ...{ client_id: client.id, client_secret: client.secret },
      });
      return extras(answer.json().id_token);
    };
    expect(await refreshed('openid profile email')).toEqual(shown);
    expect(await refreshed('openid profile')).toEqual({ name: ana.name });
  });

  it('may be of the host, and users.find is asked for their scopes only', async () => {
    const wanted = asking({ id_token: { orders: null, acr: null, amr: null, aud: { value: 'another' } } });
    const code = await provider.code(client, { scope: 'openid profile orders', ...wanted });
    find.mockClear();
    const { id_token } = (await provider.exchange(client, code)).json();
    expect(find.mock.calls).toEqual([[ana.sub, new Set(['orders'])]]);
    expect(extras(id_token)).toEqual({ orders: ['A-1'] });
    expect(decodeJwt(String(id_token)).aud).toBe(client.id);
  });

  it('that the user does not have are left out', async () => {
    provider.host.people.set(ana.sub, { ...ana, email: null });
    const wanted = asking({ id_token: { email: { essential: true } } });
    expect(extras((await provider.tokens(client, { scope: 'openid email', ...wanted })).id_token)).toEqual(
      {},
    );
    provider.host.people.set(ana.sub, { ...ana, email: 'ana@example.com', claims: { orders: ['A-1'] } });
  });

  it('need openid, and say nothing without it', async () => {
    const wanted = asking({ id_token: { name: null, acr: { essential: true, value: 'urn:gold' } } });
    const tokens = await provider.tokens(client, { scope: 'profile', ...wanted });
    expect(tokens).not.toHaveProperty('id_token');
  });

  it('with another sub than that of the user lead to the login, and accept that user alone', async () => {
    const browser = provider.browser();
    await provider.code(client, {}, browser);
    const wanted = (sub: object) => asking({ id_token: { sub } });
    expect(await provider.attempt(client, wanted({ value: ana.sub }), browser)).toBe('code');
    expect(await provider.attempt(client, wanted({ values: ['x', ana.sub] }), browser)).toBe('code');
    const other = wanted({ value: ben.sub });
    expect(await provider.attempt(client, { ...other, prompt: 'none' }, browser)).toBe('login_required');
    const sent = await provider.follow(browser, provider.authorizeUrl(client, other));
    expect(sent.outcome).toBe('303 login');
    const returnTo = sent.callback.get('return_to') ?? '';
    provider.clock.advance(1_000);
    provider.signIn(browser, ana.sub);
    expect((await provider.follow(browser, returnTo)).outcome).toBe('303 login_required');
    const again = await provider.follow(browser, provider.authorizeUrl(client, other));
    provider.clock.advance(1_000);
    provider.signIn(browser, ben.sub);
    expect((await provider.follow(browser, again.callback.get('return_to') ?? '')).outcome).toBe('303 code');
  });
});

it('a pushed request may carry claims and classes', async () => {
  const at = await startProvider({ claimsParameter: true, pushedRequests: {} });
  const app = await at.client({ defaultScope: 'openid profile' });
  const push = (more: Record<string, string>) =>
    at.call(
      '/v1/oauth/par',
      new URLSearchParams({
        ...{ client_id: app.id, client_secret: app.secret ?? '', response_type: 'code' },
        ...{ redirect_uri: app.redirectUri, ...more },
      }),
    );
  expect((await push({ claims: '[]' })).outcome).toBe('400 invalid_request');
  const pushed = await push({ acr_values: 'urn:gold', ...asking({ id_token: { name: null } }) });
  const reference = { client_id: app.id, request_uri: String(pushed.json().request_uri) };
  const url = `${at.site}/oauth/authorize?${new URLSearchParams(reference)}`;
  const browser = at.browser(null);
  const sent = await at.follow(browser, url);
  expect(sent.callback.get('acr_values')).toBe('urn:gold');
  at.signIn(browser, ana.sub);
  const { callback } = await at.follow(browser, sent.callback.get('return_to') ?? '');
  const tokens = (await at.exchange(app, callback.get('code') ?? '')).json();
  expect(tokens.scope).toBe('openid profile');
  expect(extras(tokens.id_token)).toEqual({ name: ana.name });
});

describe('the parameter', () => {
  it.each([
    'x',
    '[]',
    'null',
    '1',
    '"id_token"',
    '{',
    '{"id_token":[]}',
    '{"id_token":null}',
    '{"userinfo":"email"}',
    '{"id_token":{"email":true}}',
    '{"id_token":{"email":[]}}',
    '{"id_token":{"email":{"essential":"yes"}}}',
    '{"id_token":{"email":{"values":"a"}}}',
    '{"id_token":{"acr":{"value":1}}}',
    '{"id_token":{"sub":{"values":["a",null]}}}',
    '{"id_token":{},"id_token":{}}',
    '{"userinfo":{"__proto__":null}}',
    `{"a":${'['.repeat(40)}${']'.repeat(40)}}`,
    `{"a":"${'x'.repeat(4090)}"}`,
  ])('is invalid_request where it is malformed: %s', async (claims) => {
    for (const scope of ['openid', 'profile'])
      expect(await provider.attempt(client, { claims, scope })).toBe('invalid_request');
  });

  it.each([
    '{}',
    '{"other":1}',
    '{"id_token":{"x":{"value":{"a":1},"ui":true}}}',
    '{"id_token":{},"userinfo":{}}',
  ])('may have what is not known: %s', async (claims) => {
    const browser = provider.browser();
    await provider.code(client, {}, browser);
    expect(await provider.attempt(client, { claims }, browser)).toBe('code');
  });

  it('is invalid_request where it comes twice', async () => {
    const url = `${provider.authorizeUrl(client, { claims: '{}' })}&claims=%7B%7D`;
    expect((await provider.browser().get(url)).outcome).toBe('303 invalid_request');
  });

  it('never causes an error of the service', async () => {
    const browser = provider.browser();
    await provider.code(client, {}, browser);
    const any = fc.oneof(
      fc.json(),
      fc.json().map((json) => `{"id_token":${json}}`),
      fc.json().map((json) => `{"id_token":{"acr":${json},"sub":null}}`),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(any, async (claims) => {
        const outcome = await provider.attempt(client, { claims, prompt: 'none' }, browser);
        expect(outcome).toMatch(/^(code|invalid_request|login_required)$/);
      }),
      { seed: 41, numRuns: 300 },
    );
    expect(provider.errors).toEqual([]);
  });

  it('is in the metadata with its option, and is ignored without it, also when it comes twice', async () => {
    const metadata = async (at: typeof provider) =>
      (await at.request('/.well-known/openid-configuration')).json().claims_parameter_supported;
    const plain = await startProvider();
    expect([await metadata(provider), await metadata(plain)]).toEqual([true, false]);
    const app = await plain.client();
    const wanted = asking({ id_token: { name: null, acr: { essential: true, value: 'urn:gold' } } });
    const tokens = await plain.tokens(app, { scope: 'openid profile', ...wanted });
    expect(extras(tokens.id_token)).toEqual({});
    const twice = `${plain.authorizeUrl(app, { claims: 'x' })}&claims=y`;
    expect((await plain.browser().get(twice)).outcome).toBe('303 code');
  });
});
