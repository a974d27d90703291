import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { partnerProvider } from '../../../core/test/support/partner-api.ts';
import type { TestClient, TestProvider } from '../../../core/test/support/provider.ts';
import { InvalidRequestError, OstiaryError, ProtocolError, TokenExpiredError } from '../../src/index.ts';
import { CallbackError, OstiaryOAuth, type OstiaryOAuthOptions } from '../../src/oauth/index.ts';
import { answer, faulty, refusal, resetAfter, resetBefore } from '../support/faulty.ts';
import { failureOf } from '../support/partner.ts';

afterEach(() => vi.unstubAllGlobals());

function clientOf(
  provider: { readonly origin: string },
  client: TestClient,
  options: Partial<OstiaryOAuthOptions> = {},
): OstiaryOAuth {
  return new OstiaryOAuth({
    authUrl: provider.origin,
    clientId: client.id,
    clientSecret: client.secret ?? undefined,
    redirectUri: client.redirectUri,
    sleep: async () => {},
    ...options,
  });
}

/** Opens an authorization URL as a user, decides, and returns the URL of the callback. */
async function visit(provider: TestProvider, url: string, decision: 'approve' | 'deny' = 'approve') {
  const { location } = await provider.follow(provider.browser(), url, decision);
  if (location === null) throw new Error('the browser did not come back');
  return location;
}

describe.each(['web', 'native'] as const)('a sign-in of a %s client', (kind) => {
  async function start() {
    const { provider } = await partnerProvider();
    const settings = kind === 'native' ? { public: true } : {};
    const client = await provider.client(settings as object);
    return { provider, client, oauth: clientOf(provider, client) };
  }

  it('works from the authorization URL to the user and the revoked token', async () => {
    const { provider, oauth } = await start();
    const { url, ...remembered } = await oauth.authorizeUrl({ scope: ['openid', 'profile', 'kyc'] });
    const callbackUrl = await visit(provider, url);
    const { data: tokens, response } = await oauth.exchange({ callbackUrl, ...remembered }).withResponse();
    expect(response.status).toBe(200);
    expect(tokens).toMatchObject({
      tokenType: 'Bearer',
      expiresIn: 3600,
      scope: ['openid', 'profile', 'kyc'],
    });
    expect(tokens.accessToken).toMatch(/^svc_at_/);
    const [, claims = ''] = (tokens.idToken ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).nonce).toBe(remembered.nonce);

    const user = await oauth.userinfo<'openid' | 'profile' | 'kyc'>(tokens.accessToken);
    expect([user.kid, user.name, user.kycTier]).toEqual(['KID-ANA', 'Ana Joseph', 2]);
    expect(await oauth.revoke(tokens.accessToken)).toEqual({ ok: true });
    expect(await failureOf(oauth.userinfo(tokens.accessToken))).toMatchObject({
      code: 'invalid_token',
      status: 401,
      outcome: 'not_executed',
    });
  });

  it('continues with refresh tokens, also for fewer scopes, until one is revoked', async () => {
    const { provider } = await partnerProvider({ refreshTokens: {} });
    const allowedScopes = ['openid', 'kyc', 'offline_access'];
    const client = await provider.client({ allowedScopes, public: kind === 'native' });
    const oauth = clientOf(provider, client);
    const { url, ...remembered } = await oauth.authorizeUrl({ scope: allowedScopes });
    const callbackUrl = await visit(provider, url);
    const first = await oauth.exchange({ callbackUrl, ...remembered });
    expect(first.refreshToken).toMatch(/^svc_rt_/);
    const second = await oauth.refresh(first.refreshToken ?? '', { scope: ['openid'] });
    expect([second.scope, second.idToken === null]).toEqual([['openid'], false]);
    expect((await oauth.userinfo<'openid'>(second.accessToken)).kid).toBe('KID-ANA');
    const third = await oauth.refresh(second.refreshToken ?? '');
    expect(third.scope).toEqual(allowedScopes);
    await oauth.revoke(third.refreshToken ?? '');
    const ended = await failureOf(oauth.refresh(third.refreshToken ?? ''));
    expect(ended).toMatchObject({ code: 'invalid_grant', status: 400, retryable: false });
  });

  it('makes one exchange for simultaneous calls with one callback, as in StrictMode of React', async () => {
    const { provider, oauth } = await start();
    const { url, ...remembered } = await oauth.authorizeUrl({ scope: ['openid'] });
    const callbackUrl = await visit(provider, url);
    const wrong = oauth.exchange({ callbackUrl, ...remembered, state: 'of another tab' });
    const [first, second] = [1, 2].map(() => oauth.exchange({ callbackUrl, ...remembered }));
    expect(await failureOf(wrong)).toMatchObject({ code: 'state_mismatch' });
    const answer = await second?.withResponse();
    expect([answer?.data, answer?.response.attempts]).toEqual([await first, 1]);
    expect((await oauth.userinfo<'openid'>(answer?.data.accessToken ?? '')).kid).toBe('KID-ANA');
    // A later call exchanges the code a second time, which revokes the tokens of the first.
    const later = await failureOf(oauth.exchange({ callbackUrl, ...remembered }));
    expect(later).toMatchObject({ code: 'invalid_grant' });
  });

  it('accepts only the code if the caller has checked state and issuer', async () => {
    const { provider, oauth } = await start();
    const { url, codeVerifier } = await oauth.authorizeUrl({ scope: ['kyc'] });
    const code = new URL(await visit(provider, url)).searchParams.get('code') ?? '';
    expect(await oauth.exchange({ code, codeVerifier })).toMatchObject({ scope: ['kyc'], idToken: null });
    const again = await failureOf(oauth.exchange({ code, codeVerifier }));
    expect(again).toMatchObject({ code: 'invalid_grant', status: 400, retryable: false });
  });

  it('ends with access_denied when the user declines', async () => {
    const { provider, oauth } = await start();
    const { url, ...remembered } = await oauth.authorizeUrl({ scope: ['openid'], prompt: 'consent' });
    const callbackUrl = await visit(provider, url, 'deny');
    const error = await failureOf(oauth.exchange({ callbackUrl, ...remembered }));
    expect(error).toBeInstanceOf(CallbackError);
    expect(error).toMatchObject({ code: 'access_denied', outcome: 'not_executed' });
  });
});

describe('an authorization request', () => {
  const client = { id: 'app', secret: null, redirectUri: 'com.example.app:/callback' };

  it('contains new PKCE, state and nonce values each time, and the requested scopes', async () => {
    const oauth = clientOf({ origin: 'https://id.example/base/' }, client);
    const ask = () =>
      oauth.authorizeUrl({
        scope: ['openid', 'wallet:balance'],
        prompt: 'login',
        maxAge: 60,
        loginHint: 'ana',
        uiLocales: ['fr', 'en'],
      });
    const [first, second] = [await ask(), await ask()];
    const url = new URL(first.url);
    expect(url.origin + url.pathname).toBe('https://id.example/base/oauth/authorize');
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(first.codeVerifier));
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'app',
      redirect_uri: 'com.example.app:/callback',
      scope: 'openid wallet:balance',
      state: first.state,
      nonce: first.nonce,
      code_challenge: Buffer.from(digest).toString('base64url'),
      code_challenge_method: 'S256',
      prompt: 'login',
      max_age: '60',
      login_hint: 'ana',
      ui_locales: 'fr en',
    });
    const values = [first, second].flatMap(({ state, nonce, codeVerifier }) => [state, nonce, codeVerifier]);
    expect(new Set(values).size).toBe(6);
    for (const value of values) expect(value).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('needs a scope, and accepts only known parameters', async () => {
    const oauth = clientOf({ origin: 'https://id.example' }, client);
    for (const request of [
      {},
      { scope: [] },
      { scope: 'openid' },
      { scope: ['openid'], state: 'mine' },
      null,
    ]) {
      expect(await failureOf(oauth.authorizeUrl(request as never))).toBeInstanceOf(TypeError);
    }
  });
});

describe('a callback', () => {
  const client = { id: 'app', secret: null, redirectUri: 'https://app.example/callback' };
  const state = 'the-state';

  it.each<readonly [string, string, string]>([
    ['of another sign-in', 'code=c&state=other&iss=ISS', 'state_mismatch'],
    ['without state', 'code=c&iss=ISS', 'state_mismatch'],
    ['of another provider', 'code=c&state=the-state&iss=https://evil.example', 'issuer_mismatch'],
    ['without issuer', 'code=c&state=the-state', 'issuer_mismatch'],
    ['without code', 'state=the-state&iss=ISS', 'malformed_callback'],
    ['with two codes', 'code=a&code=b&state=the-state&iss=ISS', 'malformed_callback'],
    ['with two states', 'code=a&state=the-state&state=the-state&iss=ISS', 'malformed_callback'],
    ['with an error', 'error=login_required&state=the-state&iss=ISS', 'login_required'],
    ['with an error of another sign-in', 'error=login_required&state=x&iss=ISS', 'state_mismatch'],
    ['with an error that is none', 'error=<script>&state=the-state&iss=ISS', 'malformed_callback'],
  ])('%s is refused, and nothing is sent', async (_name, query, code) => {
    const { origin, seen } = await faulty();
    const oauth = clientOf({ origin }, client);
    const callbackUrl = `/callback?${query.replace('ISS', encodeURIComponent(origin))}`;
    const error = await failureOf(oauth.exchange({ callbackUrl, state, codeVerifier: 'v' }));
    expect(error).toBeInstanceOf(CallbackError);
    expect(error).toMatchObject({ code, outcome: 'not_executed' });
    expect(seen).toEqual([]);
  });

  it.each([
    ['two ports', 'http://localhost:3000:3000/callback?code=the-code&state=the-state'],
    ['no host', '//?code=the-code&state=the-state'],
  ])('with %s is refused, and the error does not contain the code', async (_name, callbackUrl) => {
    const { origin, seen } = await faulty();
    const exchange = clientOf({ origin }, client).exchange({ callbackUrl, state, codeVerifier: 'v' });
    const error = await failureOf(exchange);
    expect(error).toBeInstanceOf(TypeError);
    expect(inspect(error) + JSON.stringify(error)).not.toContain('the-code');
    expect(seen).toEqual([]);
  });

  it.each([
    {},
    { code: 'c' },
    { code: '', codeVerifier: 'v' },
    { code: 'c', codeVerifier: '' },
    { code: 'c', codeVerifier: 'v', verifier: 'v' },
  ])('and an exchange of %j is refused', async (exchange) => {
    const { origin, seen } = await faulty();
    expect(await failureOf(clientOf({ origin }, client).exchange(exchange as never))).toBeInstanceOf(
      TypeError,
    );
    expect(seen).toEqual([]);
  });
});

describe('a token exchange', () => {
  const client = { id: 'app', secret: 'a-client-secret', redirectUri: 'https://app.example/callback' };
  const exchange = { code: 'a-code', codeVerifier: 'a-verifier' };
  const refresh = (origin: string) => clientOf({ origin }, client).refresh('svc_rt_1');

  it.each([resetBefore, resetAfter, refusal(503, 'temporarily_unavailable')])(
    'whose end is unknown is not tried again, since a second one would end the first',
    async (fault) => {
      const target = await faulty();
      const { origin, seen } = await faulty([fault], target.origin);
      const error = await failureOf(clientOf({ origin }, client).exchange(exchange));
      expect(error).toMatchObject({ outcome: 'unknown', attempts: 1, retryable: false });
      expect(seen).toHaveLength(1);
      const again = await faulty([fault], target.origin);
      expect(await failureOf(refresh(again.origin))).toMatchObject({ outcome: 'unknown', attempts: 1 });
    },
  );

  it('that was refused before anything happened is retried', async () => {
    const token = { access_token: 'svc_at_1', token_type: 'Bearer', expires_in: 3600, scope: 'openid' };
    const { origin, seen } = await faulty([answer(429, { error: 'slow_down' }), answer(200, token)]);
    expect(await clientOf({ origin }, client).exchange(exchange)).toMatchObject({ accessToken: 'svc_at_1' });
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual(
      Array(2).fill({
        grant_type: 'authorization_code',
        code: 'a-code',
        redirect_uri: 'https://app.example/callback',
        client_id: 'app',
        client_secret: 'a-client-secret',
        code_verifier: 'a-verifier',
      }),
    );
  });

  it('without a token in its answer is a ProtocolError', async () => {
    const { origin } = await faulty([answer(200, { token_type: 'Bearer' })]);
    expect(await failureOf(clientOf({ origin }, client).exchange(exchange))).toBeInstanceOf(ProtocolError);
  });

  it('shows neither secret, code, verifier nor token in errors or when printed', async () => {
    const echo: Parameters<typeof faulty>[0] = [
      (response, { seen }) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: 'invalid_grant', error_description: seen.body }));
      },
      (response, { seen }) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ error: 'invalid_request', error_description: seen.headers.authorization }),
        );
      },
    ];
    const { origin } = await faulty([...echo, ...echo.slice(0, 1)]);
    const oauth = clientOf({ origin }, client);
    const errors = [
      await failureOf(oauth.exchange(exchange)),
      await failureOf(oauth.userinfo('svc_at_secret')),
      await failureOf(oauth.refresh('svc_rt_secret')),
    ];
    expect(errors[0]).toMatchObject({ name: 'OstiaryError', code: 'invalid_grant' });
    expect(errors[1]).toBeInstanceOf(InvalidRequestError);
    const shown =
      inspect([oauth, ...errors], { depth: 9, showHidden: true }) + JSON.stringify([oauth, errors]);
    for (const secret of ['a-client-secret', 'a-code', 'a-verifier', 'svc_at_secret', 'svc_rt_secret']) {
      expect(shown).not.toContain(secret);
    }
  });
});

describe('an access token', () => {
  it('that has expired is a TokenExpiredError', async () => {
    const { provider } = await partnerProvider();
    const client = await provider.client();
    const oauth = clientOf(provider, client);
    const token = await provider.token(client);
    provider.clock.advance(3_600_000);
    expect(await failureOf(oauth.userinfo(token))).toBeInstanceOf(TokenExpiredError);
  });

  it.each(['', 'a b', 'a\r\nX: 1', undefined])('%j is refused, unquoted', async (token) => {
    const { origin, seen } = await faulty();
    const oauth = clientOf({ origin }, { id: 'app', secret: null, redirectUri: 'https://app.example/' });
    for (const call of [
      oauth.userinfo(token as string),
      oauth.revoke(token as string),
      oauth.refresh(token as string),
    ]) {
      const error = await failureOf(call);
      expect(error).toBeInstanceOf(TypeError);
      expect(error).not.toBeInstanceOf(OstiaryError);
    }
    expect(seen).toEqual([]);
  });
});

describe('options', () => {
  const good = {
    authUrl: 'https://id.example',
    clientId: 'app',
    redirectUri: 'https://app.example/callback',
  };

  it.each<readonly [string, object]>([
    ['no address', { authUrl: undefined }],
    ['plain http', { authUrl: 'http://id.example' }],
    ['a wrong API address', { baseUrl: 'api' }],
    ['a wrong issuer', { issuer: 'id.example' }],
    ['no client', { clientId: undefined }],
    ['an empty client', { clientId: '' }],
    ['an empty secret', { clientSecret: '' }],
    ['no way back', { redirectUri: undefined }],
    ['half a way back', { redirectUri: '/callback' }],
    ['a fragment', { redirectUri: 'https://app.example/#x' }],
    ['one that nobody knows', { scope: 'openid' }],
    ['a wrong timeout', { timeout: 0 }],
  ])('with %s are refused', (_name, changes) => {
    expect(() => new OstiaryOAuth({ ...good, ...changes } as never)).toThrow(TypeError);
  });

  it('may be those of a public client in a browser, but without a secret', () => {
    vi.stubGlobal('window', { document: {} });
    expect(new OstiaryOAuth(good)).toBeInstanceOf(OstiaryOAuth);
    expect(() => new OstiaryOAuth({ ...good, clientSecret: 'secret' })).toThrow(TypeError);
  });
});
