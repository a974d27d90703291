import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { scopeNames } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { basic } from '../support/provider.ts';
import { allowedScopes, refreshing } from '../support/refreshing.ts';
import { startProvider } from '../support/running.ts';

const { app, spa, provider, connect, refresh, outcomeOf } = await refreshing();
const day = 24 * 3_600_000;

describe('refresh tokens are off by default', () => {
  it('so that neither the scope nor the grant type exist', async () => {
    const plain = await startProvider();
    const client = await plain.client();
    await expect(plain.client({ allowedScopes })).rejects.toThrow('allowedScopes.5');
    expect(await plain.attempt(client, { scope: 'openid offline_access' })).toBe('invalid_scope');
    const answer = await refresh('x', client, {}, plain);
    expect([answer.outcome, answer.json().error_description]).toEqual([
      '400 unsupported_grant_type',
      'The only supported grant_type is authorization_code.',
    ]);
    const metadata = (await plain.request('/.well-known/openid-configuration')).json();
    expect([metadata.scopes_supported, metadata.grant_types_supported]).toEqual([
      scopeNames,
      ['authorization_code'],
    ]);
  });

  it.each([{ idleDays: 0 }, { absoluteDays: -1 }, { idleDays: 4000 }, { days: 1 }, true])(
    'and lives that make no sense are refused: %j',
    async (refreshTokens) => {
      await expect(startProvider({ refreshTokens } as never)).rejects.toThrow(
        /^createOstiary: refreshTokens/,
      );
    },
  );
});

describe('a client that may ask for offline_access', () => {
  it('is given a refresh token by the user who agreed to it, in words of its own', async () => {
    const client = await provider.client({ allowedScopes });
    const page = await openConsent(provider, client, { scope: 'openid offline_access' });
    expect((await page.browser.get(page.address)).text).toContain('Stay connected while you are away');
    const code = (await page.finish()).callback.get('code') ?? '';
    const tokens = (await provider.exchange(client, code)).json();
    expect(tokens).toMatchObject({ scope: 'openid offline_access', expires_in: 3600 });
    expect(tokens.refresh_token).toMatch(/^svc_rt_[A-Za-z0-9_-]{43}$/);
    const metadata = (await provider.request('/.well-known/openid-configuration')).json();
    expect(metadata.scopes_supported).toEqual(allowedScopes);
    expect(metadata.grant_types_supported).toEqual(['authorization_code', 'refresh_token']);
    const [shown] = await provider.ostiary.consents.list(ana.sub);
    expect(shown?.scopes).toContain('offline_access');
  });

  it('gets no refresh token without it', async () => {
    expect(await provider.tokens(app, { scope: 'openid' })).not.toHaveProperty('refresh_token');
  });

  it('needs no page again for what the user has agreed to, and one that says so for what is new', async () => {
    const client = await provider.client({ allowedScopes });
    await provider.code(client, { scope: 'openid' });
    const silent = { prompt: 'none', scope: 'openid offline_access' };
    expect(await provider.attempt(client, silent)).toBe('consent_required');
    await connect(client, 'openid offline_access');
    const again = await provider.tokens(client, silent);
    expect(again.refresh_token).toMatch(/^svc_rt_/);
  });
});

describe('a refresh', () => {
  it('gives an access token, the next refresh token, and an ID token of the same sign-in without its nonce', async () => {
    const first = await connect();
    const signedIn = decodeJwt(String(first.id_token));
    provider.clock.advance(day);
    const answer = await refresh(first.refresh_token);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const next = answer.json();
    expect(Object.keys(next).toSorted()).toEqual(Object.keys(first).toSorted());
    expect(next).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: first.scope });
    const { nonce, iat, exp, at_hash, ...same } = decodeJwt(String(next.id_token));
    expect(nonce).toBeUndefined();
    expect(signedIn).toMatchObject(same);
    expect([signedIn.nonce, Number(iat) - Number(signedIn.iat)]).toEqual(['n-1', day / 1000]);
    expect(at_hash).not.toBe(signedIn.at_hash);
    expect((await provider.userinfo(String(next.access_token))).json()).toMatchObject({ name: ana.name });
    expect(await outcomeOf(next.refresh_token)).toBe('200 ok');
  });

  it('takes a form and Basic too, and a public client without a secret', async () => {
    const { refresh_token } = await connect();
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: String(refresh_token) });
    const header = { authorization: basic(app.id, app.secret) };
    expect((await provider.call('/v1/oauth/token', form, header)).outcome).toBe('200 ok');
    const page = { origin: 'https://app.example' };
    const { refresh_token: ofPage } = await connect(spa);
    const sent = { grant_type: 'refresh_token', refresh_token: ofPage, client_id: spa.id };
    const answer = await provider.call('/v1/oauth/token', sent, page);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, page.origin]);
  });

  it('can ask for fewer scopes, which narrows that access token and nothing else', async () => {
    const { refresh_token } = await connect();
    const narrow = (await refresh(refresh_token, app, { scope: 'profile  profile' })).json();
    expect(narrow.scope).toBe('profile');
    expect(narrow).not.toHaveProperty('id_token');
    expect(Object.keys((await provider.userinfo(String(narrow.access_token))).json())).not.toContain('sub');
    const verified = await provider.ostiary.tokens.verify(String(narrow.access_token));
    expect(verified).toMatchObject({ active: true, scopes: ['profile'] });
    const whole = (await refresh(narrow.refresh_token)).json();
    expect(whole.scope).toBe('openid profile offline_access');
  });

  it.each(['openid kyc', 'kyc', ' ', 'openid unknown', 'OPENID'])(
    'can not ask for more than the user approved: %j',
    async (scope) => {
      const { refresh_token } = await connect();
      expect(await outcomeOf(refresh_token, app, { scope })).toBe('400 invalid_scope');
      expect(await outcomeOf(refresh_token)).toBe('200 ok');
    },
  );

  it('gives no scope that the client was allowed once, and ends when it may not ask for offline access any more', async () => {
    const client = await provider.client({ allowedScopes });
    const { refresh_token } = await connect(client, 'openid kyc offline_access');
    const allow = (scopes: string[]) =>
      provider.ostiary.admin.clients.update(client.id, { allowedScopes: scopes });
    await allow(['openid', 'offline_access']);
    expect(await outcomeOf(refresh_token, client, { scope: 'kyc' })).toBe('400 invalid_scope');
    const next = (await refresh(refresh_token, client)).json();
    expect(next.scope).toBe('openid offline_access');
    await allow(['openid']);
    expect(await outcomeOf(next.refresh_token, client)).toBe('400 invalid_grant');
  });

  it('is refused to other clients, and does not affect the token', async () => {
    const { refresh_token, access_token } = await connect();
    const thief = await provider.client({ allowedScopes });
    for (const [by, changes, outcome] of [
      [app, { client_secret: 'wrong' }, '401 invalid_client'],
      [app, { client_secret: undefined }, '401 invalid_client'],
      [app, { client_secret: '' }, '401 invalid_client'],
      [app, { client_id: undefined }, '400 invalid_request'],
      [thief, {}, '400 invalid_grant'],
      [spa, {}, '400 invalid_grant'],
      [{ ...app, id: 'unknown' }, {}, '401 invalid_client'],
      [app, { refresh_token: undefined }, '400 invalid_request'],
      [app, { scope: ' ' }, '400 invalid_scope'],
      [app, { refresh_token: ['x'] }, '400 invalid_request'],
      [app, { refresh_token: `${refresh_token}x` }, '400 invalid_grant'],
      [app, { refresh_token: access_token }, '400 invalid_grant'],
      [app, { refresh_token: `svc_rt_${'a'.repeat(43)}` }, '400 invalid_grant'],
      [app, { grant_type: 'authorization_code', code: refresh_token }, '400 invalid_request'],
      [app, {}, '200 ok'],
    ] as const)
      expect([changes, await outcomeOf(refresh_token, by, changes)]).toEqual([changes, outcome]);
  });

  it('opens nothing but the token endpoint', async () => {
    const token = String((await connect()).refresh_token);
    expect((await provider.userinfo(token)).outcome).toBe('401 invalid_token');
    expect(await provider.ostiary.tokens.verify(token)).toMatchObject({ reason: 'malformed' });
    const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
    const credentials = { client_id: api.id, client_secret: api.secret };
    const answer = await provider.call('/v1/oauth/introspect', { token, ...credentials });
    expect(answer.json()).toEqual({ active: false });
    expect(await outcomeOf(token)).toBe('200 ok');
  });
});
