import { expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { ana, Host } from '../support/directory.ts';
import { partnerProvider } from '../support/partner-api.ts';

const host = new Host();
/** The function of the host's that answers nobody at the moment. */
let silent: string | null = null;

/** The host's functions, of which one may be silent. */
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

/** What is answered while a function of the host's is silent; the log says which one. */
async function during(call: string, ask: () => Promise<Answer>): Promise<[string, string | null]> {
  provider.logged.length = 0;
  silent = call;
  const answer = await ask().finally(() => {
    silent = null;
  });
  expect(answer.location).toBeNull();
  expect(answer.text).not.toContain(call);
  expect(provider.errors.map(({ fields }) => String((fields as { err: unknown }).err))).toEqual([
    `HostTimeoutError: ${call} did not answer within 0.05 s (option hostTimeoutSeconds)`,
  ]);
  return [answer.outcome, answer.headers.get('retry-after')];
}

const unavailable = ['503 temporarily_unavailable', '1'];

it.each(['login.authenticate', 'login.loginUrl', 'users.find'])(
  'a page for which %s does not answer is 503 with Retry-After, and the log names it',
  async (call) => {
    // Whoever has given the consent before is not looked up for the page.
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
