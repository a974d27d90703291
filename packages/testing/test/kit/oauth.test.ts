import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { TestClient, TestOstiary } from '../../src/index.ts';
import { type Json, newKit } from './support.ts';

async function exchange(kit: TestOstiary, client: TestClient, fields: Json) {
  const response = await kit.fetch(`${kit.baseUrl}/v1/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'authorization_code',
      client_id: client.clientId,
      redirect_uri: client.redirectUri,
      ...fields,
    }),
  });
  return { status: response.status, json: (await response.json()) as Json };
}

describe('a user who approves', () => {
  it('gives a code that the client exchanges, once', async () => {
    const kit = await newKit();
    const { app } = kit.clients;
    const { callback, code, codeVerifier, state } = await kit.authorize(app, {
      scopes: ['openid', 'kyc'],
      parameters: { nonce: 'a nonce' },
    });
    expect(callback.href.startsWith(`${app.redirectUri}?`)).toBe(true);
    expect(callback.searchParams.get('state')).toBe(state);
    const answer = await exchange(kit, app, { code, code_verifier: codeVerifier });
    expect(answer.json).toMatchObject({ token_type: 'Bearer', scope: 'openid kyc' });
    const jwks = (await (await kit.fetch(`${kit.authUrl}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    const { payload } = await jwtVerify(String(answer.json.id_token), createLocalJWKSet(jwks), {
      issuer: kit.authUrl,
      audience: app.clientId,
    });
    expect(payload).toMatchObject({ sub: kit.user.sub, nonce: 'a nonce' });
    expect((await exchange(kit, app, { code, code_verifier: codeVerifier })).json.error).toBe(
      'invalid_grant',
    );
  });

  it('gives the claims in the ID token that the parameter claims asks for', async () => {
    const kit = await newKit({ claimsParameter: true });
    const { app } = kit.clients;
    const claims = JSON.stringify({ id_token: { name: null } });
    const options = { scopes: ['openid', 'profile'], parameters: { claims } };
    const { code, codeVerifier } = await kit.authorize(app, options);
    const { json } = await exchange(kit, app, { code, code_verifier: codeVerifier });
    expect(decodeJwt(String(json.id_token))).toMatchObject({ sub: kit.user.sub, name: kit.user.name });
  });

  it('may be any user of the kit, also by id', async () => {
    const kit = await newKit();
    for (const user of [...kit.users.list, kit.users.add().sub]) {
      const token = await kit.accessToken(kit.clients.web, { user, scopes: ['openid'] });
      const headers = { authorization: `Bearer ${token}` };
      const { sub } = (await (
        await kit.fetch(`${kit.baseUrl}/v1/oauth/userinfo`, { headers })
      ).json()) as Json;
      expect(sub).toBe(typeof user === 'string' ? user : user.sub);
    }
    await expect(kit.accessToken(kit.clients.web, { user: 'nobody' })).rejects.toThrow(
      'there is no user nobody',
    );
  });

  it('can do so at any address that the code under test made', async () => {
    const kit = await newKit();
    const browser = kit.signIn(kit.user);
    const url = kit.authorizeUrl(kit.clients.web, { scopes: ['openid'], state: 'of the app' });
    const first = await browser.approve(url);
    expect(first.searchParams.get('state')).toBe('of the app');
    const { json } = await exchange(kit, kit.clients.web, {
      code: first.searchParams.get('code'),
      client_secret: kit.clients.web.clientSecret,
    });
    expect(json.scope).toBe('openid');
    // The consent is remembered, so that no page is shown.
    const silent = new URL(url);
    silent.searchParams.set('prompt', 'none');
    expect((await browser.deny(silent)).searchParams.get('code')).not.toBeNull();
  });

  it.each(['login', 'consent', 'login consent'])('is asked again with prompt=%s', async (prompt) => {
    const kit = await newKit();
    const browser = kit.signIn();
    await browser.approve(kit.authorizeUrl(kit.clients.web));
    const again = kit.authorizeUrl(kit.clients.web, { parameters: { prompt } });
    expect((await browser.approve(again)).searchParams.get('code')).not.toBeNull();
  });

  it('signs in again once the last time is too long ago', async () => {
    const kit = await newKit();
    const browser = kit.signIn();
    await kit.clock.advance('10m');
    const url = kit.authorizeUrl(kit.clients.web, { parameters: { max_age: '60' } });
    expect((await browser.approve(url)).searchParams.get('code')).not.toBeNull();
  });
});

it('a user who denies sends the client an error instead of a code', async () => {
  const kit = await newKit();
  const answer = await kit.authorize(kit.clients.web, { decision: 'deny' });
  expect(answer.callback.searchParams.get('error')).toBe('access_denied');
  expect(() => answer.code).toThrow('access_denied');
});

it('a request that ends at a page fails with what the page says', async () => {
  const kit = await newKit();
  const wrong = kit.authorize(kit.clients.web, { redirectUri: 'https://evil.example/callback' });
  await expect(wrong).rejects.toThrow(/\/oauth\/authorize answered 400: .*not registered/is);
});
