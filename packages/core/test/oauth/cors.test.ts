import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { generousLimits, tokenRequest } from '../support/provider.ts';
import { refreshing } from '../support/refreshing.ts';
import { startProvider } from '../support/running.ts';

const own = 'https://one.example';
const also = 'https://also.example';
const second = 'https://two.example:8443';
const local = 'http://localhost:5173';
const gone = 'https://gone.example';
const foreign = 'https://evil.example';
const origins = [own, also, second, local, gone, `${own}.evil.example`, foreign];
const everyClients = [own, also, second, local];

const provider = await startProvider({ limits: { ...generousLimits, failedClientAuthentications: 200 } });
const client = await provider.client({ redirectUris: [`${own}/callback`, `${also}/cb`] });
await provider.client({ redirectUris: [`${second}/a/b?c=d`, `${local}/cb`] });
const disabled = await provider.client({ redirectUris: [`${gone}/`] });
await provider.ostiary.admin.clients.disable(disabled.id);

type Origin = Readonly<Record<'origin', string>>;
type Row = readonly [what: string, outcome: string, send: (from: Origin) => Promise<Answer>];

/** Returns the origin that may read a response. Also checks what every response of the API must have. */
function reader(answer: Answer): string | null {
  expect(answer.headers.get('vary')?.split(/, */)).toContain('Origin');
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  return answer.headers.get('access-control-allow-origin');
}

/**
 * Returns the origins whose pages may read the response to a request. The request's outcome must be the same
 * for all of them.
 */
async function readers(outcome: string, send: (from: Origin) => Promise<Answer>) {
  const allowed: string[] = [];
  for (const origin of origins) {
    const answer = await send({ origin });
    expect(answer.outcome).toBe(outcome);
    const read = reader(answer);
    if (read !== null) expect(read).toBe(origin);
    if (read !== null) allowed.push(origin);
  }
  return allowed;
}

const token = (body: object | string, headers: Record<string, string>) =>
  provider.call('/v1/oauth/token', body, headers);
const userinfo = (headers: object) => provider.request('/v1/oauth/userinfo', { headers: { ...headers } });
const revoke = (body: object, from: Origin) => provider.call('/v1/oauth/revoke', body, from);
const request = async () => tokenRequest(client, await provider.code(client));
const unknown = tokenRequest(client, 'unknown');
const revoked = await provider.token(client);
await provider.revoke(revoked);

it.each<Row>([
  ['an exchange', '200 ok', async (from) => token(await request(), from)],
  ['a wrong code', '400 invalid_grant', (from) => token(unknown, from)],
  ['a wrong secret', '401 invalid_client', (from) => token({ ...unknown, client_secret: 'wrong' }, from)],
  ['no secret', '401 invalid_client', (from) => token({ ...unknown, client_secret: undefined }, from)],
  ['userinfo', '200 ok', async (from) => provider.userinfo(await provider.token(client), from)],
  ['userinfo, of a revoked token', '401 invalid_token', (from) => provider.userinfo(revoked, from)],
  ['a revocation', '200 ok', async (from) => provider.revoke(await provider.token(client), from)],
])(
  'the answer to %s (%s) is for the origins of the client concerned, and for no other origin',
  async (_what, outcome, send) => expect(await readers(outcome, send)).toEqual([own, also]),
);

it.each<Row>([
  ['an unknown client', '401 invalid_client', (from) => token({ ...unknown, client_id: 'nobody' }, from)],
  ['a token request without anything', '400 invalid_request', (from) => token({}, from)],
  ['a token request that is nonsense', '400 invalid_request', (from) => token('nonsense', from)],
  ['another type', '415 invalid_request', (from) => token('x', { 'content-type': 'text/plain', ...from })],
  ['a body that is too long', '413 invalid_request', (from) => token('x'.repeat(70_000), from)],
  ['userinfo without a token', '401 invalid_token', userinfo],
  ['an unknown token', '401 invalid_token', (from) => userinfo({ authorization: 'Bearer x', ...from })],
  [
    'the revocation of an unknown one',
    '200 ok',
    (from) => revoke({ token: `svc_at_${'a'.repeat(43)}` }, from),
  ],
  ['a revocation without a token', '400 invalid_request', (from) => revoke({}, from)],
])(
  'the answer to %s (%s) concerns no client: it is for the origins of every enabled one',
  async (_what, outcome, send) => expect(await readers(outcome, send)).toEqual(everyClients),
);

it('pages may read what helps them, also when the token endpoint has had enough of an address', async () => {
  const limited = await startProvider({ limits: { failedClientAuthentications: 1 } });
  await limited.client({ redirectUris: [`${own}/callback`] });
  for (const [headers, status, read, exposed] of [
    [{ origin: own }, 401, own, 'Retry-After, WWW-Authenticate, X-Request-Id'],
    [{ origin: own }, 429, own, 'Retry-After, WWW-Authenticate, X-Request-Id'],
    [{}, 429, null, null],
  ] as const) {
    const answer = await limited.call('/v1/oauth/token', unknown, headers);
    expect([answer.status, reader(answer)]).toEqual([status, read]);
    expect(answer.headers.get('access-control-expose-headers')).toBe(exposed);
  }
});

describe('a preflight request', () => {
  const asked = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  const preflight = (path: string, origin: string) =>
    provider.request(path, { method: 'OPTIONS', headers: { origin, ...asked } });

  it.each([
    ['/v1/oauth/token', 'POST'],
    ['/v1/oauth/userinfo', 'GET, POST'],
    ['/v1/oauth/revoke', 'POST'],
  ])('of %s is answered to the origins of enabled clients', async (path, methods) => {
    expect(await readers('204 ok', ({ origin }) => preflight(path, origin))).toEqual(everyClients);
    expect(Object.fromEntries((await preflight(path, own)).headers)).toMatchObject({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': asked['access-control-request-headers'],
      'access-control-max-age': '600',
    });
  });

  it('allows the headers that monitoring and HTTP libraries of a page add', async () => {
    const names = 'authorization,content-type,traceparent,baggage,sentry-trace,x-requested-with';
    for (const path of ['/v1/oauth/token', '/v1/oauth/userinfo', '/v1/oauth/revoke']) {
      const headers = { ...asked, origin: own, 'access-control-request-headers': names };
      const answer = await provider.request(path, { method: 'OPTIONS', headers });
      expect(answer.headers.get('access-control-allow-headers')).toBe(names);
      expect(answer.headers.get('vary')).toContain('Access-Control-Request-Headers');
      const foreigner = await provider.request(path, {
        method: 'OPTIONS',
        headers: { ...headers, origin: foreign },
      });
      expect(foreigner.headers.get('access-control-allow-headers')).toBeNull();
    }
  });

  it('is not allowed from an origin that is nearly one of them, nor for apps that have none', async () => {
    await provider.client({ redirectUris: ['com.example.app:/callback'], public: true });
    const ports = ['https://one.example:443', 'https://one.example:444', 'https://two.example'];
    const spelled = ['HTTPS://ONE.EXAMPLE', 'http://one.example', `${own}, ${foreign}`, `${own}/`];
    const others = [
      'https://sub.one.example',
      'null',
      '*',
      'com.example.app://callback',
      'com.example.app://',
    ];
    for (const origin of [foreign, gone, ...ports, ...spelled, ...others]) {
      const answer = await preflight('/v1/oauth/token', origin);
      expect([origin, answer.status, reader(answer)]).toEqual([origin, 204, null]);
      expect(answer.headers.get('access-control-allow-methods')).toBeNull();
    }
  });
});

describe('an app in a web view with its own scheme', () => {
  it.each([
    ['com.example.app://callback', 'com.example.app://callback'],
    ['capacitor://localhost/callback', 'capacitor://localhost'],
    ['ionic://localhost/?x=1', 'ionic://localhost'],
  ])('that returns to %s may ask from %s, and from nowhere else', async (redirectUri, origin) => {
    const app = await startProvider();
    const settings = { redirectUris: [redirectUri], public: true, firstParty: true } as const;
    const of = await app.client(settings);
    const { code, verifier } = await app.boundCode(of);
    const body = { ...tokenRequest(of, code), code_verifier: verifier };
    for (const [from, read] of [
      ['null', null],
      ['com.example.other://callback', null],
      [origin, origin],
    ] as const) {
      const headers = { origin: from, 'access-control-request-method': 'POST' };
      expect(reader(await app.request('/v1/oauth/token', { method: 'OPTIONS', headers }))).toBe(read);
      expect(reader(await app.call('/v1/oauth/token', { ...body, code: 'unknown' }, { origin: from }))).toBe(
        read,
      );
    }
    const answer = await app.call('/v1/oauth/token', body, { origin });
    expect([answer.outcome, reader(answer)]).toEqual(['200 ok', origin]);
  });
});

it('authorize, the pages and everything behind them allow no origin, registered or not', async () => {
  const fresh = await provider.client({ redirectUris: [`${own}/callback`] });
  const page = await openConsent(provider, fresh);
  const { browser, address } = page;
  const here = { origin: own };
  const program = { ...here, accept: 'application/json' };
  const method = { ...here, 'access-control-request-method': 'GET' };
  const answers = [
    await browser.get(provider.authorizeUrl(fresh), here),
    await browser.get(address, here),
    await page.approve(),
    await browser.get('/account/apps', here),
    await browser.get(provider.authorizeUrl(fresh, { client_id: 'nobody' }), program),
    await browser.get(provider.authorizeUrl(fresh, { scope: undefined }), program),
    await browser.get('/oauth/interaction/unknown', here),
    await provider.request('/oauth/authorize', { method: 'OPTIONS', headers: method }),
    await provider.request('/nowhere', { headers: here }),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([303, 200, 303, 200, 401, 400, 400, 204, 404]);
  for (const { headers } of answers)
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
});

it('the revocation of a refresh token may be read by pages of its client, and by no other', async () => {
  const app = await refreshing();
  await app.provider.client({ redirectUris: [`${own}/callback`] });
  for (const [origin, read] of [
    [own, null],
    [new URL(app.app.redirectUri).origin, new URL(app.app.redirectUri).origin],
  ] as const) {
    const { refresh_token: token } = await app.connect();
    const answer = await app.provider.call('/v1/oauth/revoke', { token }, { origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe(read);
  }
});
