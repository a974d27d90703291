import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ana, Host } from '../support/directory.ts';
import { manyRequests, TestRail } from '../support/partner-api.ts';
import { type TestClient, type TestKey, TestProvider } from '../support/provider.ts';

const host = new Host();
/** The function of the host's that answers nobody at the moment. */
let silent: string | null = null;
let provider: TestProvider;
let client: TestClient;
let key: TestKey;

/** The host's functions, of which one may be silent. */
function maybeSilent<Port extends object>(port: Port, name: string): Port {
  return new Proxy(port, {
    get(target, property, receiver) {
      const call = Reflect.get(target, property, receiver);
      if (typeof call !== 'function') return call;
      return (...args: unknown[]) =>
        silent === `${name}.${String(property)}` ? new Promise(() => {}) : Reflect.apply(call, target, args);
    },
  });
}

beforeAll(async () => {
  provider = await TestProvider.start(
    {
      hostTimeoutSeconds: 0.05,
      users: maybeSilent(host.users, 'users'),
      login: maybeSilent(host.login, 'login'),
      payments: new TestRail(),
      partnerLimits: manyRequests,
    },
    host,
  );
  client = await provider.client();
  key = await provider.key();
});
beforeEach(() => {
  silent = null;
});
afterAll(() => provider.stop());

/** What the log said since then, of a failed request. */
function told(since: number): { message: string; causes: string[] } {
  const lines = provider.logged.slice(since).filter(({ level }) => level === 'error');
  return {
    message: lines.map(({ message }) => message).join(),
    causes: lines.map(({ fields }) => String((fields as { err: unknown }).err)),
  };
}

it.each(['login.authenticate', 'login.loginUrl', 'users.find'])(
  'a page for which %s does not answer is 503 with Retry-After, and the log names it',
  async (call) => {
    // Whoever has given the consent before is not looked up for the page.
    const client = await provider.client();
    const browser = provider.browser(call === 'login.loginUrl' ? null : ana.sub);
    const since = provider.logged.length;
    silent = call;
    const answer = await provider.follow(browser, provider.authorizeUrl(client));
    expect([answer.status, answer.headers.get('retry-after'), answer.location]).toEqual([503, '1', null]);
    expect(answer.text).toContain('temporarily_unavailable');
    expect(answer.text).not.toContain(call);
    expect(told(since)).toEqual({
      message: 'request failed: temporarily_unavailable',
      causes: [`HostTimeoutError: ${call} did not answer within 0.05 s (option hostTimeoutSeconds)`],
    });
    silent = null;
    expect((await provider.follow(browser, provider.authorizeUrl(client))).status).toBe(303);
  },
);

it('an exchange that waits in vain for users.find is 503, and the code still works', async () => {
  const code = await provider.code(client);
  silent = 'users.find';
  const refused = await provider.exchange(client, code);
  expect([refused.status, refused.json().error, refused.headers.get('retry-after')]).toEqual([
    503,
    'temporarily_unavailable',
    '1',
  ]);
  silent = null;
  expect((await provider.exchange(client, code)).status).toBe(200);
});

it('userinfo that waits in vain for users.find is 503, and the token still works', async () => {
  const token = await provider.token(client);
  silent = 'users.find';
  const refused = await provider.userinfo(token);
  expect([refused.status, refused.json().error, refused.headers.get('retry-after')]).toEqual([
    503,
    'temporarily_unavailable',
    '1',
  ]);
  silent = null;
  expect((await provider.userinfo(token)).status).toBe(200);
});

it.each([
  ['users.findByKid', 'GET /v1/partner/users/KID-ANA'],
  ['users.findByPhone', 'GET /v1/partner/users/phone/+50937000001'],
  ['users.isVisible', 'GET /v1/partner/users/KID-ANA'],
])('a partner for whom %s does not answer gets 503 internal_error with Retry-After', async (call, target) => {
  const since = provider.logged.length;
  silent = call;
  const answer = await provider.partnerCall(key, target);
  expect([answer.status, answer.json().code, answer.headers.get('retry-after')]).toEqual([
    503,
    'internal_error',
    '1',
  ]);
  expect(told(since).causes).toEqual([
    `HostTimeoutError: ${call} did not answer within 0.05 s (option hostTimeoutSeconds)`,
  ]);
});

it('loginUrl may answer later', async () => {
  const late = await TestProvider.start({
    login: { authenticate: () => null, loginUrl: async () => '/sign-in' },
  });
  const interaction = (await late.browser().get(late.authorizeUrl(await late.client()))).location ?? '';
  expect((await late.browser().get('/account/apps')).location).toBe(`${late.site}/sign-in`);
  expect(interaction).toContain('/oauth/interaction/');
  await late.stop();
});
