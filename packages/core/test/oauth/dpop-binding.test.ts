import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { scopeNames } from '../../src/index.ts';
import type { Answer } from '../support/browser.ts';
import { type DpopKey, dpopKey } from '../support/dpop.ts';
import { type Json, pkce, type TestClient, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ dpop: true, introspection: true, refreshTokens: {} });
const allowedScopes = [...scopeNames, 'offline_access'];
const app = await provider.client({ allowedScopes });
const spa = await provider.client({ allowedScopes, public: true });
const strict = await provider.client({ allowedScopes, requireDpop: true });
const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
const key = await dpopKey(provider);
const other = await dpopKey(provider);

/** Exchanges a code with a DPoP proof, or without one. */
async function exchange(
  client: TestClient,
  by: DpopKey | null = key,
  changes: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { verifier, bound } = pkce();
  const scope = 'openid profile offline_access';
  const code = await provider.code(client, { scope, ...bound, ...changes });
  const request = { ...tokenRequest(client, code), code_verifier: verifier };
  return provider.call('/v1/oauth/token', request, by === null ? {} : await by.forToken());
}

const tokensOf = async (...given: Parameters<typeof exchange>): Promise<Json> =>
  (await exchange(...given)).json();

/** Uses a refresh token with a DPoP proof, or without one. */
async function refresh(client: TestClient, token: unknown, by: DpopKey | null): Promise<Answer> {
  const secret = client.secret === null ? {} : { client_secret: client.secret };
  const request = { grant_type: 'refresh_token', refresh_token: token, client_id: client.id, ...secret };
  return provider.call('/v1/oauth/token', request, by === null ? {} : await by.forToken());
}

const userinfo = (headers: Readonly<Record<string, string>>) =>
  provider.request('/v1/oauth/userinfo', { headers });
const challengeOf = ({ headers }: Answer) => headers.get('www-authenticate') ?? '';
const introspected = async (token: unknown): Promise<Json> =>
  (
    await provider.call('/v1/oauth/introspect', { token, client_id: api.id, client_secret: api.secret })
  ).json();

describe('a token request with a proof', () => {
  it.each(['ES256', 'PS256', 'EdDSA', 'Ed25519'])(
    'gets a token that only its key of %s can use',
    async (alg) => {
      const own = await dpopKey(provider, alg);
      const tokens = await tokensOf(app, own);
      expect(tokens.token_type).toBe('DPoP');
      expect((await userinfo(await own.forResource(tokens.access_token))).status).toBe(200);
      const stolen = await userinfo(await other.forResource(tokens.access_token));
      expect([stolen.status, stolen.json().error]).toEqual([401, 'invalid_dpop_proof']);
      expect(challengeOf(stolen)).toMatch(
        /^DPoP error="invalid_dpop_proof", error_description="[^"]+", algs="ES256 PS256 EdDSA Ed25519"$/,
      );
    },
  );

  it('gets no token that works as a bearer token', async () => {
    const { access_token: token } = await tokensOf(app);
    const refused = await provider.userinfo(String(token));
    expect([refused.status, refused.json().error]).toEqual([401, 'invalid_token']);
    expect(challengeOf(refused)).toMatch(/^DPoP error="invalid_token", .*algs="/);
    const posted = await provider.call(
      '/v1/oauth/userinfo',
      new URLSearchParams({ access_token: String(token) }),
      {
        dpop: (await key.forResource(token)).dpop,
      },
    );
    expect(posted.status).toBe(401);
  });

  it('leaves tokens without a proof what they were, which refuse the scheme DPoP', async () => {
    const tokens = await tokensOf(app, null);
    expect(tokens.token_type).toBe('Bearer');
    expect(await provider.isAlive(tokens.access_token)).toBe(true);
    const refused = await userinfo(await key.forResource(tokens.access_token));
    expect([refused.status, refused.json().error]).toEqual([401, 'invalid_token']);
  });

  it('is visible at the introspection endpoint', async () => {
    const [bound, bearer] = [await tokensOf(app), await tokensOf(app, null)];
    expect(await introspected(bound.access_token)).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: key.jkt },
    });
    const unbound = await introspected(bearer.access_token);
    expect(unbound.token_type).toBe('Bearer');
    expect(unbound).not.toHaveProperty('cnf');
  });

  it('gets a token that can be revoked without a proof', async () => {
    const { access_token: token } = await tokensOf(app);
    await provider.revoke(String(token));
    expect((await userinfo(await key.forResource(token))).status).toBe(401);
  });
});

describe('a code that the authorization request bound to a key', () => {
  const bound = { dpop_jkt: key.jkt };

  it('is exchanged with a proof of this key only', async () => {
    expect((await exchange(app, other, bound)).outcome).toBe('400 invalid_grant');
    expect((await exchange(app, null, bound)).outcome).toBe('400 invalid_dpop_proof');
    expect((await tokensOf(app, key, bound)).token_type).toBe('DPoP');
    expect((await tokensOf(spa, key, bound)).token_type).toBe('DPoP');
  });

  it.each(['x', `${key.jkt}x`, `${key.jkt.slice(1)}=`])(
    'is not issued for the thumbprint %s',
    async (jkt) => {
      const callback = await provider.authorize(app, { dpop_jkt: jkt });
      expect(callback.get('error')).toBe('invalid_request');
    },
  );
});

describe('a client with requireDpop', () => {
  it('gets nothing without a proof, and can exchange the code with one', async () => {
    const code = await provider.code(strict);
    expect(await provider.redeem(strict, code)).toBe('400 invalid_dpop_proof');
    const answer = await provider.call('/v1/oauth/token', tokenRequest(strict, code), await key.forToken());
    expect(answer.json().token_type).toBe('DPoP');
  });

  it('refreshes with a proof only', async () => {
    const { refresh_token: token } = await tokensOf(strict);
    expect((await refresh(strict, token, null)).outcome).toBe('400 invalid_dpop_proof');
    expect((await refresh(strict, token, key)).json().token_type).toBe('DPoP');
  });
});

describe('a refresh token', () => {
  it('of a public client is bound to the key of its first proof', async () => {
    const { refresh_token: token } = await tokensOf(spa);
    expect((await refresh(spa, token, other)).outcome).toBe('400 invalid_grant');
    expect((await refresh(spa, token, null)).outcome).toBe('400 invalid_dpop_proof');
    const next = (await refresh(spa, token, key)).json();
    expect(next.token_type).toBe('DPoP');
    expect((await refresh(spa, next.refresh_token, other)).outcome).toBe('400 invalid_grant');
    const last = (await refresh(spa, next.refresh_token, key)).json();
    expect((await userinfo(await key.forResource(last.access_token))).status).toBe(200);
  });

  it('of a public client without a proof works without one', async () => {
    const { refresh_token: token } = await tokensOf(spa, null);
    expect((await refresh(spa, token, null)).json().token_type).toBe('Bearer');
  });

  it('of a client with a secret works with every key: each access token is bound to that of its refresh', async () => {
    const { refresh_token: token } = await tokensOf(app);
    const next = (await refresh(app, token, other)).json();
    expect((await userinfo(await other.forResource(next.access_token))).status).toBe(200);
    expect((await userinfo(await key.forResource(next.access_token))).status).toBe(401);
  });
});

it('is named in the metadata, and pages may send its header', async () => {
  const metadata = (await provider.request('/.well-known/openid-configuration')).json();
  expect(metadata.dpop_signing_alg_values_supported).toEqual(['ES256', 'PS256', 'EdDSA', 'Ed25519']);
  for (const path of ['/v1/oauth/token', '/v1/oauth/userinfo']) {
    const { headers } = await provider.request(path, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-headers': 'authorization, dpop' },
    });
    expect(headers.get('access-control-allow-headers')).toContain('dpop');
  }
});

it('is one of two challenges for a request without a token', async () => {
  expect(challengeOf(await userinfo({}))).toBe('Bearer, DPoP algs="ES256 PS256 EdDSA Ed25519"');
});

describe('without the option', () => {
  it('a proof and dpop_jkt are ignored', async () => {
    const plain = await startProvider();
    const client = await plain.client();
    const own = await dpopKey(plain);
    const twice = `${plain.authorizeUrl(client)}&dpop_jkt=x&dpop_jkt=y`;
    const { location } = await plain.follow(plain.browser(), twice);
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    const tokens = await plain.call('/v1/oauth/token', tokenRequest(client, code), await own.forToken());
    expect(tokens.json().token_type).toBe('Bearer');
    expect(await plain.isAlive(tokens.json().access_token)).toBe(true);
    const metadata = (await plain.request('/.well-known/openid-configuration')).json();
    expect(metadata).not.toHaveProperty('dpop_signing_alg_values_supported');
    const { headers } = await plain.request('/v1/oauth/userinfo');
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  it('no client can be registered with requireDpop', async () => {
    const plain = await startProvider();
    const message = 'requireDpop: needs the option dpop';
    await expect(plain.client({ requireDpop: true })).rejects.toThrow(message);
    const client = await plain.client();
    const change = plain.ostiary.admin.clients.update(client.id, { requireDpop: true });
    await expect(change).rejects.toThrow(message);
  });

  it('a client that was registered with requireDpop gets nothing, with a proof either', async () => {
    const storage = memoryStorage();
    const client = await (await startProvider({ storage, dpop: true })).client({ requireDpop: true });
    const plain = await startProvider({ storage });
    const own = await dpopKey(plain);
    const request = tokenRequest(client, await plain.code(client));
    const answer = await plain.call('/v1/oauth/token', request, await own.forToken());
    expect(answer.outcome).toBe('400 invalid_dpop_proof');
  });
});
