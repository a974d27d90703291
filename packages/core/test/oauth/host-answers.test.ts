import { describe, expect, it, vi } from 'vitest';
import type { Login } from '../../src/index.ts';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana, Host } from '../support/directory.ts';
import { partnerProvider } from '../support/partner-api.ts';
import { startProvider } from '../support/running.ts';

describe('bad answers of the host', () => {
  const leak = 'do-not-show-this';

  async function expectErrorPages(login: Partial<Record<keyof Login, () => unknown>>): Promise<void> {
    const host = new Host();
    const broken = await startProvider({ login: { ...host.login, ...login } as Login }, host);
    const browser = broken.browser();
    const first = await browser.get(broken.authorizeUrl(await broken.client()));
    const page = first.status === 303 ? await browser.get(first.location ?? '') : first;
    for (const answer of [page, await browser.get('/account/apps')]) {
      expect([answer.outcome, answer.location]).toEqual(['500 server_error', null]);
      expect(answer.text).not.toContain(leak);
    }
    expect(broken.logged.map((line) => line.level)).toEqual(['error', 'error']);
  }

  const thrown = () => {
    throw new Error(leak);
  };

  const subs = [undefined, '', 'x'.repeat(256), 'añá', 7];
  const times = [undefined, '2026-01-01', new Date(Number.NaN)];
  const users = [
    ...subs.map((sub) => ({ sub, authenticatedAt: new Date() })),
    ...times.map((authenticatedAt) => ({ sub: ana.sub, authenticatedAt })),
  ];

  it.each([undefined, ana.sub, ...users])(
    'authenticate with %j is an error page and a log line, and lets nobody in',
    (answer) => expectErrorPages({ authenticate: () => answer }),
  );

  it.each([undefined, 5, 'https://', 'javascript:alert(1)', 'data:text/html,x'])(
    'loginUrl with %j is an error page and a log line',
    (answer) => expectErrorPages({ authenticate: () => null, loginUrl: () => answer }),
  );

  it('an exception or a rejection is an error page and a log line', async () => {
    for (const authenticate of [thrown, async () => thrown()]) await expectErrorPages({ authenticate });
    await expectErrorPages({ authenticate: () => null, loginUrl: thrown });
  });
});

it.each([0, 999, -1])('a sign-in may be as old as it likes: %i ms after 1970', async (ms) => {
  const host = new Host();
  const authenticate = () => ({ sub: ana.sub, authenticatedAt: new Date(ms) });
  const provider = await startProvider({ login: { ...host.login, authenticate } }, host);
  const client = await provider.client();
  expect((await (await openConsent(provider, client)).finish()).outcome).toBe('303 code');
});

it.each(['/sign-in?x=1', 'https://login.example/'])(
  'loginUrl may be %s: relative to authUrl, or on another host, now or later',
  async (given) => {
    for (const loginUrl of [() => given, async () => given]) {
      const provider = await startProvider({ login: { authenticate: () => null, loginUrl } });
      const { location } = await provider.browser().get('/account/apps');
      expect(location).toBe(new URL(given, provider.site).href);
    }
  },
);

describe('a user whom the host does not know', () => {
  it('is not asked for consent: the app gets access_denied, and the log has the reason', async () => {
    const provider = await startProvider();
    const app = await provider.client();
    provider.host.people.clear();
    const answer = await provider.authorize(app);
    expect([answer.get('error'), answer.get('state')]).toEqual(['access_denied', 'a state']);
    const message = 'a user was refused: users.find does not know the sub that login.authenticate names';
    expect(provider.logged).toEqual([{ level: 'warn', message, fields: { client: app.id } }]);
  });

  it.each([
    ['createdAt', '2026-01-01 10:00:00', 'openid'],
    ['country', 'Haiti', 'openid'],
    ['kycTier', 4, 'kyc'],
    ['htgBalance', 12.5, 'wallet:balance'],
  ])(
    'is an error page before the consent when %s is %s, and none where no scope shows it',
    async (field, value, scope) => {
      const provider = await startProvider();
      const app = await provider.client();
      provider.host.people.set(ana.sub, { ...ana, [field]: value });
      const answer = await provider.follow(provider.browser(), provider.authorizeUrl(app, { scope }));
      expect([answer.outcome, answer.location]).toEqual(['500 server_error', null]);
      expect(answer.text).not.toContain('name="csrf"');
      const message = expect.stringContaining(`users.find: ${field}: `);
      expect(provider.logged).toMatchObject([{ level: 'error', fields: { err: { message } } }]);
      expect(await provider.code(app, { scope: 'profile' })).toBeTruthy();
    },
  );

  it('is asked for once per page, with the scopes that would be shown and the name of the user', async () => {
    const find = vi.fn(() => ana);
    const provider = await startProvider({ users: { find } });
    const { text } = await openConsent(provider, await provider.client(), { scope: 'kyc' });
    expect(text).toContain(ana.name);
    expect(find.mock.calls).toEqual([[ana.sub, new Set(['kyc', 'profile'])]]);
  });
});

const host = new Host();
/** Name of the host application function that does not respond at the moment; `null` for none. */
let silent: string | null = null;

/** Wraps functions of a host application so that a test can make one of them hang. */
const maybeSilent = <Port extends object>(port: Port, name: string): Port =>
  new Proxy(port, {
    get:
      (target, property) =>
      (...args: unknown[]) =>
        silent === `${name}.${String(property)}`
          ? new Promise(() => {})
          : Reflect.apply(Object(Reflect.get(target, property)), target, args),
  });

const users = maybeSilent(host.users, 'users');
const login = maybeSilent(host.login, 'login');
const { provider } = await partnerProvider({ hostTimeoutSeconds: 0.05, users, login }, host);
const client = await provider.client();
const key = await provider.key();

/**
 * Returns the response while a host application function hangs, and checks that the log names the function.
 */
async function during(call: string, ask: () => Promise<Answer>): Promise<[string, string | null]> {
  provider.logged.length = 0;
  silent = call;
  const { location, text, outcome, headers } = await ask();
  silent = null;
  expect([location, text]).toEqual([null, expect.not.stringContaining(call)]);
  const message = `${call} did not answer within 0.05 s`;
  expect(provider.errors).toMatchObject([{ fields: { err: { name: 'HostTimeoutError', message } } }]);
  return [outcome, headers.get('retry-after')];
}

const unavailable = ['503 temporarily_unavailable', '1'];

it.each(['login.authenticate', 'login.loginUrl', 'users.find'])(
  'a page for which %s does not answer is 503 with Retry-After, and the log names it',
  async (call) => {
    // The page does not look up a user who has already consented.
    const url = provider.authorizeUrl(await provider.client());
    const browser = provider.browser(call === 'login.loginUrl' ? null : ana.sub);
    expect(await during(call, () => provider.follow(browser, url))).toEqual(unavailable);
    expect(provider.errors.map(({ message }) => message)).toEqual([
      'request failed: temporarily_unavailable',
    ]);
    expect((await provider.follow(browser, url)).status).toBe(303);
  },
);

it('an exchange and userinfo that wait in vain for users.find are 503, and code and token still work', async () => {
  const token = await provider.token(client);
  const code = await provider.code(client);
  const exchange = () => provider.exchange(client, code);
  expect(await during('users.find', exchange)).toEqual(unavailable);
  expect(await during('users.find', () => provider.userinfo(token))).toEqual(unavailable);
  expect((await exchange()).status).toBe(200);
  expect(await provider.isAlive(token)).toBe(true);
});

it.each([
  ['users.findByKid', 'GET /v1/partner/users/KID-ANA'],
  ['users.findByPhone', 'GET /v1/partner/users/phone/+50937000001'],
  ['users.isVisible', 'GET /v1/partner/users/KID-ANA'],
])('a partner for whom %s does not answer gets 503 internal_error with Retry-After', async (call, target) => {
  expect(await during(call, () => provider.partnerCall(key, target))).toEqual(['503 internal_error', '1']);
});
