import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import { assertionOf, clientKey, withAssertion } from '../support/client-keys.ts';
import { dpopKey } from '../support/dpop.ts';
import { pkce, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ privateKeyJwt: true, pushedRequests: {}, dpop: true });
const admin = provider.ostiary.admin.clients;
const key = await clientKey();
const profiled: Partial<NewClient> = {
  profile: 'fapi2',
  idTokenAlg: 'ES256',
  jwks: { keys: [key.publicJwk] },
};
const app = await provider.client(profiled);
const assertion = async (claims = {}) => withAssertion(await assertionOf(provider, app, key, { claims }));

async function push(changes: Readonly<Record<string, string | undefined>> = {}, claims = {}) {
  const parameters = {
    ...{ response_type: 'code', client_id: app.id, redirect_uri: app.redirectUri, scope: 'openid' },
    ...pkce().bound,
  };
  return provider.call('/v1/oauth/par', { ...parameters, ...changes, ...(await assertion(claims)) });
}

async function codeFor(changes: Readonly<Record<string, string>>): Promise<string> {
  const { request_uri: uri } = (await push(changes)).json();
  const query = new URLSearchParams({ client_id: app.id, request_uri: String(uri) });
  const { callback } = await provider.follow(provider.browser(), `${provider.site}/oauth/authorize?${query}`);
  expect(callback.get('iss')).toBe(provider.origin);
  return callback.get('code') ?? '';
}

describe('a client of the FAPI 2.0 Security Profile', () => {
  it('pushes its requests, with PKCE, and has to prove its key for tokens', async () => {
    expect(await provider.attempt(app, pkce().bound)).toBe('invalid_request');
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    expect((await push(without)).outcome).toBe('400 invalid_request');
    const { verifier, bound } = pkce();
    const changes = { code_verifier: verifier, ...(await assertion()) };
    expect(await provider.redeem(app, await codeFor(bound), changes)).toBe('400 invalid_dpop_proof');
    const { bound: other } = pkce();
    const unsigned = { code_verifier: verifier };
    expect(await provider.redeem(app, await codeFor(other), unsigned)).toBe('401 invalid_client');
  });

  it('names the issuer as the audience of its assertions, and nothing else', async () => {
    expect((await push()).status).toBe(201);
    for (const aud of [
      [provider.origin],
      `${provider.origin}/v1/oauth/par`,
      `${provider.origin}/v1/oauth/token`,
    ])
      expect((await push({}, { aud })).outcome).toBe('401 invalid_client');
  });

  it('exchanges codes within 60 seconds', async () => {
    const { verifier, bound } = pkce();
    const dpop = await dpopKey(provider);
    const exchanged = async (afterMs: number) => {
      const code = await codeFor(bound);
      provider.clock.advance(afterMs);
      const sent = { code_verifier: verifier, ...(await assertion()) };
      const body = { ...tokenRequest(app, code), ...sent };
      return provider.call('/v1/oauth/token', body, await dpop.forToken());
    };
    const inTime = await exchanged(59_000);
    expect([inTime.outcome, inTime.json().token_type]).toEqual(['200 ok', 'DPoP']);
    expect(await provider.isAlive(inTime.json().access_token), 'as a bearer token').toBe(false);
    expect((await exchanged(60_000)).outcome).toBe('400 invalid_grant');
  });

  it('keeps its refresh token, which nobody can use without its keys', async () => {
    const lasting = await startProvider({
      ...{ privateKeyJwt: true, pushedRequests: {}, dpop: true, refreshTokens: {} },
    });
    const client = await lasting.client({ ...profiled, refreshWithoutOfflineAccess: true });
    const dpop = await dpopKey(lasting);
    const call = async (path: string, body: Record<string, string>, headers = {}) =>
      lasting.call(path, { ...body, ...withAssertion(await assertionOf(lasting, client, key)) }, headers);
    const { verifier, bound } = pkce();
    const request = { response_type: 'code', client_id: client.id, redirect_uri: client.redirectUri };
    const { request_uri: uri } = (
      await call('/v1/oauth/par', { ...request, scope: 'openid', ...bound })
    ).json();
    const query = new URLSearchParams({ client_id: client.id, request_uri: String(uri) });
    const { callback } = await lasting.follow(lasting.browser(), `${lasting.site}/oauth/authorize?${query}`);
    const exchange = { ...tokenRequest(client, callback.get('code') ?? ''), code_verifier: verifier };
    const first = (await call('/v1/oauth/token', exchange, await dpop.forToken())).json();
    const refreshToken = String(first.refresh_token);
    for (const afterMs of [0, 30_000, 3_600_000]) {
      lasting.clock.advance(afterMs);
      const body = { grant_type: 'refresh_token', refresh_token: refreshToken };
      const answer = await call('/v1/oauth/token', body, await dpop.forToken());
      expect([answer.outcome, answer.json().refresh_token]).toEqual(['200 ok', refreshToken]);
    }
  });
});

describe('the profile', () => {
  it('turns on its switches, which cannot be turned off while it holds', async () => {
    const switches = { requirePkce: true, requirePushedRequests: true, requireDpop: true };
    expect(await admin.get(app.id)).toMatchObject({ profile: 'fapi2', ...switches });
    const off = { requirePkce: false, requirePushedRequests: false, requireDpop: false };
    expect(await admin.update(app.id, off)).toMatchObject(switches);
  });

  it('takes other keys, and allows no secret instead of them', async () => {
    const { id } = await provider.client(profiled);
    const next = await clientKey('ES256', 'next');
    expect(await admin.update(id, { jwks: { keys: [next.publicJwk] } })).toMatchObject({
      ...{ profile: 'fapi2', jwks: { keys: [{ kid: 'next' }] }, secrets: [] },
    });
    for (const replaceKeys of [true, false])
      await expect(admin.rotateSecret(id, { replaceKeys })).rejects.toThrow(
        `${id} has the profile fapi2, which needs keys and allows no secret: update jwks or jwksUri for other keys, or remove the profile first`,
      );
    await admin.update(id, { profile: null });
    expect((await admin.rotateSecret(id, { replaceKeys: true })).client).toMatchObject({ jwks: null });
  });

  it('is refused where it cannot hold', async () => {
    const plain = await provider.client();
    for (const [message, changes] of [
      ['needs a client with keys', { jwks: null }],
      ['needs a client with keys', { jwks: null, public: true }],
      ['idTokenAlg: the profile fapi2 needs ES256', { idTokenAlg: 'RS256' }],
      ['redirectUris.0: the profile fapi2 needs https', { redirectUris: ['http://127.0.0.1/callback'] }],
    ] as const)
      await expect(provider.client({ ...profiled, ...changes })).rejects.toThrow(message);
    await expect(admin.update(plain.id, { profile: 'fapi2' })).rejects.toThrow('needs a client with keys');
    for (const changes of [{ idTokenAlg: 'RS256' }, { redirectUris: ['http://localhost/'] }] as const)
      await expect(admin.update(app.id, changes)).rejects.toThrow('the profile fapi2 needs');
    const partly = await startProvider({ privateKeyJwt: true, dpop: true });
    await expect(partly.client(profiled)).rejects.toThrow('missing: pushedRequests');
  });
});
