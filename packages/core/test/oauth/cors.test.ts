import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { generousLimits, pkce, type TestClient, TestProvider } from '../support/provider.ts';

const [own, second, foreign, gone] = [
  'https://one.example',
  'https://two.example:8443',
  'https://evil.example',
  'https://gone.example',
];

let provider: TestProvider;
let client: TestClient;
let other: TestClient;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: { ...generousLimits, failedClientAuthentications: 200 } });
  client = await provider.client({ redirectUris: [`${own}/callback`, 'https://also.example/cb'] });
  other = await provider.client({ redirectUris: [`${second}/a/b?c=d`, 'http://localhost:5173/cb'] });
  const disabled = await provider.client({ redirectUris: [`${gone}/`] });
  await provider.ostiary.admin.clients.disable(disabled.id);
});
afterAll(() => provider.stop());

/** Which origin may read an answer; checks what has to hold of every answer of the API on the way. */
function reader(answer: Answer): string | null {
  expect(answer.headers.get('vary')?.split(/, */)).toContain('Origin');
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  return answer.headers.get('access-control-allow-origin');
}

const post = (path: string, body: object | string, origin: string, headers = {}) =>
  provider.call(path, body, { origin, ...headers });

const body = (of: TestClient, code: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: of.redirectUri,
  client_id: of.id,
  client_secret: of.secret,
});

describe('the token endpoint', () => {
  it('lets the origins of the client read its answer, and no other origin', async () => {
    for (const [origin, allowed] of [
      [own, own],
      ['https://also.example', 'https://also.example'],
      [second, null],
      [foreign, null],
    ] as const) {
      const answer = await post('/v1/oauth/token', body(client, await provider.code(client)), origin);
      expect([answer.status, reader(answer)]).toEqual([200, allowed]);
    }
  });

  it('lets pages read what helps them, and answers other callers without any of it', async () => {
    const answer = await post('/v1/oauth/token', body(client, await provider.code(client)), own);
    expect(answer.headers.get('access-control-expose-headers')?.split(', ').toSorted()).toEqual([
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
    ]);
    const without = await provider.call('/v1/oauth/token', body(client, await provider.code(client)));
    expect([reader(without), without.headers.get('access-control-expose-headers')]).toEqual([null, null]);
  });

  it('keeps to that when it refuses a client that it knows', async () => {
    const refusals = [
      body(client, 'unknown'),
      { ...body(client, 'x'), client_secret: 'wrong' },
      { ...body(client, 'x'), client_secret: undefined },
    ];
    for (const request of refusals) {
      expect(reader(await post('/v1/oauth/token', request, own))).toBe(own);
      expect(reader(await post('/v1/oauth/token', request, second))).toBeNull();
    }
  });

  it('lets the origins of every enabled client read an answer that concerns no client', async () => {
    const requests: readonly (readonly [object | string, Record<string, string>, number])[] = [
      [{ ...body(client, 'x'), client_id: 'nobody' }, {}, 401],
      [{}, {}, 400],
      ['nonsense', {}, 400],
      ['x', { 'content-type': 'text/plain' }, 415],
      ['x'.repeat(70_000), {}, 413],
    ];
    for (const [request, headers, status] of requests) {
      for (const [origin, allowed] of [
        [own, own],
        [second, second],
        ['http://localhost:5173', 'http://localhost:5173'],
        [foreign, null],
        [gone, null],
      ] as const) {
        const answer = await post('/v1/oauth/token', request, origin, headers);
        expect([answer.status, reader(answer)]).toEqual([status, allowed]);
      }
    }
  });

  it('says so too when it has had enough of an address', async () => {
    const limited = await TestProvider.start({ limits: { failedClientAuthentications: 1 } });
    await limited.client({ redirectUris: [`${own}/callback`] });
    const attempt = () => limited.call('/v1/oauth/token', { ...body(client, 'x') }, { origin: own });
    expect((await attempt()).status).toBe(401);
    const answer = await attempt();
    expect([answer.status, reader(answer)]).toEqual([429, own]);
    await limited.stop();
  });
});

describe('userinfo', () => {
  it('lets the origins of the client of the token read its answer, and no other origin', async () => {
    const token = await provider.token(client);
    for (const [origin, allowed] of [
      [own, own],
      [second, null],
      [foreign, null],
    ] as const) {
      const answer = await provider.userinfo(token, { origin });
      expect([answer.status, reader(answer)]).toEqual([200, allowed]);
    }
    expect(reader(await provider.userinfo(token))).toBeNull();
  });

  it('keeps to that for a token that was revoked', async () => {
    const token = await provider.token(client);
    await provider.call('/v1/oauth/revoke', { token });
    expect(reader(await provider.userinfo(token, { origin: own }))).toBe(own);
    expect(reader(await provider.userinfo(token, { origin: second }))).toBeNull();
  });

  it('lets the origins of every enabled client read that a token is unknown or missing', async () => {
    for (const headers of [{ authorization: 'Bearer unknown' }, {}]) {
      for (const [origin, allowed] of [
        [own, own],
        [second, second],
        [foreign, null],
        [gone, null],
      ] as const) {
        expect(
          reader(await provider.request('/v1/oauth/userinfo', { headers: { ...headers, origin } })),
        ).toBe(allowed);
      }
    }
  });
});

describe('revocation', () => {
  it('lets the origins of the client of the token read its answer, and no other origin', async () => {
    for (const [origin, allowed] of [
      [own, own],
      [second, null],
      [foreign, null],
    ] as const) {
      const answer = await post('/v1/oauth/revoke', { token: await provider.token(client) }, origin);
      expect([answer.status, reader(answer)]).toEqual([200, allowed]);
    }
  });

  it('of an unknown token, and without one, is for every enabled client', async () => {
    for (const request of [{ token: 'unknown' }, { token: `svc_at_${'a'.repeat(43)}` }, {}]) {
      for (const [origin, allowed] of [
        [own, own],
        [second, second],
        [foreign, null],
        [gone, null],
      ] as const) {
        expect(reader(await post('/v1/oauth/revoke', request, origin))).toBe(allowed);
      }
    }
  });
});

describe('a preflight request', () => {
  const preflight = (path: string, origin: string) =>
    provider.request(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });

  it.each([
    ['/v1/oauth/token', 'POST'],
    ['/v1/oauth/userinfo', 'GET, POST'],
    ['/v1/oauth/revoke', 'POST'],
  ])('of %s is answered to the origins of enabled clients', async (path, methods) => {
    for (const origin of [own, second, 'http://localhost:5173']) {
      const answer = await preflight(path, origin);
      expect([answer.status, reader(answer)]).toEqual([204, origin]);
      expect(answer.headers.get('access-control-allow-methods')).toBe(methods);
      expect(answer.headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type');
      expect(answer.headers.get('access-control-max-age')).toBe('600');
    }
  });

  it.each([
    foreign,
    gone,
    'null',
    'http://one.example',
    'https://one.example:444',
    'https://two.example',
    'https://sub.one.example',
    `${own}/`,
  ])('from %s is not allowed', async (origin) => {
    const answer = await preflight('/v1/oauth/token', origin);
    expect([answer.status, reader(answer)]).toEqual([204, null]);
    expect(answer.headers.get('access-control-allow-methods')).toBeNull();
  });

  it('from a private-use redirect URI does not exist: such an app has no origin', async () => {
    await provider.client({ redirectUris: ['com.example.app://callback'], public: true });
    for (const origin of ['null', 'com.example.app://callback'])
      expect(reader(await preflight('/v1/oauth/token', origin))).toBeNull();
  });
});

describe('what is not for pages of others', () => {
  it.each([
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/.well-known/jwks.json',
  ])('%s is for any page', async (path) => {
    for (const headers of [{ origin: foreign }, {}]) {
      const answer = await provider.request(path, { headers });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('authorize, the pages and everything behind them allow no origin, registered or not', async () => {
    const browser = provider.browser();
    const { challenge } = pkce();
    const fresh = await provider.client({ redirectUris: [`${own}/callback`] });
    const authorize = await browser.get(
      provider.authorizeUrl(fresh, { code_challenge: challenge, code_challenge_method: 'S256' }),
      { origin: own },
    );
    const interaction = authorize.location ?? '';
    const page = await browser.get(interaction, { origin: own });
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const answers = [
      authorize,
      page,
      await browser.post(interaction, { csrf, decision: 'approve' }),
      await browser.get('/account/apps', { origin: own }),
      await browser.get(provider.authorizeUrl(fresh, { client_id: 'nobody' }), {
        origin: own,
        accept: 'application/json',
      }),
      await browser.get(provider.authorizeUrl(fresh, { scope: undefined }), {
        origin: own,
        accept: 'application/json',
      }),
      await browser.get('/oauth/interaction/unknown', { origin: own }),
      await provider.request('/oauth/authorize', {
        method: 'OPTIONS',
        headers: { origin: own, 'access-control-request-method': 'GET' },
      }),
      await provider.request('/nowhere', { headers: { origin: own } }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([303, 200, 303, 200, 401, 400, 400, 204, 404]);
    for (const { headers } of answers) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });
});

it('the two clients of these tests are known', () => expect(client.id).not.toBe(other.id));
