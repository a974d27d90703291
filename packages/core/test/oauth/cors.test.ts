import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { generousLimits, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const own = 'https://one.example';
const also = 'https://also.example';
const second = 'https://two.example:8443';
const local = 'http://localhost:5173';
const gone = 'https://gone.example';
const foreign = 'https://evil.example';
const nearly = `${own}.evil.example`;
const origins = [own, also, second, local, gone, nearly, foreign];
const everyClients = [own, also, second, local];

const provider = await startProvider({ limits: { ...generousLimits, failedClientAuthentications: 200 } });
const client = await provider.client({ redirectUris: [`${own}/callback`, `${also}/cb`] });
await provider.client({ redirectUris: [`${second}/a/b?c=d`, `${local}/cb`] });
const disabled = await provider.client({ redirectUris: [`${gone}/`] });
await provider.ostiary.admin.clients.disable(disabled.id);

type Origin = Readonly<Record<'origin', string>>;

/** Which origin may read an answer; checks what has to hold of every answer of the API on the way. */
function reader(answer: Answer): string | null {
  expect(answer.headers.get('vary')?.split(/, */)).toContain('Origin');
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  return answer.headers.get('access-control-allow-origin');
}

/** From which origins a page may read the answer to a request, which has this outcome for all of them. */
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

const post = (body: object | string, headers: Record<string, string>) =>
  provider.call('/v1/oauth/token', body, headers);
const request = async () => tokenRequest(client, await provider.code(client));
const unknown = tokenRequest(client, 'unknown');
const revoked = await provider.token(client);
await provider.revoke(revoked);
const tokenRequests: readonly (readonly [string, string, (from: Origin) => Promise<Answer>])[] = [
  ['an exchange', '200 ok', async (from) => post(await request(), from)],
  ['a wrong code', '400 invalid_grant', (from) => post(unknown, from)],
  ['a wrong secret', '401 invalid_client', (from) => post({ ...unknown, client_secret: 'wrong' }, from)],
  ['no secret', '401 invalid_client', (from) => post({ ...unknown, client_secret: undefined }, from)],
  ['userinfo', '200 ok', async (from) => provider.userinfo(await provider.token(client), from)],
  ['userinfo, of a revoked token', '401 invalid_token', (from) => provider.userinfo(revoked, from)],
  ['a revocation', '200 ok', async (from) => provider.revoke(await provider.token(client), from)],
];
it.each(tokenRequests)(
  'the answer to %s (%s) is for the origins of the client concerned, and for no other origin',
  async (_what, outcome, send) => expect(await readers(outcome, send)).toEqual([own, also]),
);

const userinfo = (headers: object) => provider.request('/v1/oauth/userinfo', { headers: { ...headers } });
const revoke = (body: object, from: Origin) => provider.call('/v1/oauth/revoke', body, from);

it.each<readonly [string, string, (from: Origin) => Promise<Answer>]>([
  ['an unknown client', '401 invalid_client', (from) => post({ ...unknown, client_id: 'nobody' }, from)],
  ['a token request without anything', '400 invalid_request', (from) => post({}, from)],
  ['a token request that is nonsense', '400 invalid_request', (from) => post('nonsense', from)],
  ['another type', '415 invalid_request', (from) => post('x', { 'content-type': 'text/plain', ...from })],
  ['a body that is too long', '413 invalid_request', (from) => post('x'.repeat(70_000), from)],
  ['userinfo without a token', '401 invalid_token', userinfo],
  ['an unknown token', '401 invalid_token', (from) => userinfo({ authorization: 'Bearer x', ...from })],
  ['a revocation of nonsense', '200 ok', (from) => revoke({ token: 'unknown' }, from)],
  [
    'a revocation of an unknown token',
    '200 ok',
    (from) => revoke({ token: `svc_at_${'a'.repeat(43)}` }, from),
  ],
  ['a revocation without a token', '400 invalid_request', (from) => revoke({}, from)],
])(
  'the answer to %s (%s) concerns no client: it is for the origins of every enabled one',
  async (_what, outcome, send) => expect(await readers(outcome, send)).toEqual(everyClients),
);

describe('the token endpoint', () => {
  it('lets pages read what helps them, and answers other callers without any of it', async () => {
    const exposed = async (headers: Record<string, string>) => {
      const answer = await post(await request(), headers);
      return [reader(answer), answer.headers.get('access-control-expose-headers')];
    };
    expect(await exposed({ origin: own })).toEqual([own, 'Retry-After, WWW-Authenticate, X-Request-Id']);
    expect(await exposed({})).toEqual([null, null]);
  });

  it('says so too when it has had enough of an address', async () => {
    const limited = await startProvider({ limits: { failedClientAuthentications: 1 } });
    await limited.client({ redirectUris: [`${own}/callback`] });
    const attempt = () => limited.call('/v1/oauth/token', unknown, { origin: own });
    expect((await attempt()).status).toBe(401);
    const answer = await attempt();
    expect([answer.status, reader(answer)]).toEqual([429, own]);
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
    expect(await readers('204 ok', ({ origin }) => preflight(path, origin))).toEqual(everyClients);
    const { headers } = await preflight(path, own);
    expect(headers.get('access-control-allow-methods')).toBe(methods);
    expect(headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type');
    expect(headers.get('access-control-max-age')).toBe('600');
  });

  it.each([
    foreign,
    gone,
    'null',
    '*',
    'http://one.example',
    'https://one.example:443',
    'https://one.example:444',
    'https://two.example',
    'https://sub.one.example',
    'https://one.example.evil.example',
    'HTTPS://ONE.EXAMPLE',
    `${own}, ${foreign}`,
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
    const fresh = await provider.client({ redirectUris: [`${own}/callback`] });
    const page = await openConsent(provider, fresh);
    const { browser, address } = page;
    const here = { origin: own };
    const program = { ...here, accept: 'application/json' };
    const answers = [
      await browser.get(provider.authorizeUrl(fresh), here),
      await browser.get(address, here),
      await page.approve(),
      await browser.get('/account/apps', here),
      await browser.get(provider.authorizeUrl(fresh, { client_id: 'nobody' }), program),
      await browser.get(provider.authorizeUrl(fresh, { scope: undefined }), program),
      await browser.get('/oauth/interaction/unknown', here),
      await provider.request('/oauth/authorize', {
        method: 'OPTIONS',
        headers: { ...here, 'access-control-request-method': 'GET' },
      }),
      await provider.request('/nowhere', { headers: here }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([303, 200, 303, 200, 401, 400, 400, 204, 404]);
    for (const { headers } of answers)
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });
});
