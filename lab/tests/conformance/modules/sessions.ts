import { expect } from 'vitest';
import { refused, type SignIn, signIn } from '../support/flow.ts';
import { randomText, type Suite } from '../support/suite.ts';
import { type Module, module } from './module.ts';

/** Signs in twice in one browser, the second time later and with other parameters. */
async function twice(
  suite: Suite,
  second: (first: SignIn) => Record<string, string>,
  first: Record<string, string> = {},
): Promise<readonly [SignIn, SignIn]> {
  const browser = suite.newBrowser();
  const before = await signIn(suite, { browser, parameters: first });
  expect(before.visit.logins).toBe(1);
  suite.clock.advance(2_000);
  return [before, await signIn(suite, { browser, parameters: second(before) })];
}

/**
 * Checks that the second sign-in belongs to the same session: the provider showed no page, and the session's
 * claims are unchanged.
 */
function checkSameSession([first, second]: readonly [SignIn, SignIn]): void {
  expect([second.visit.logins, second.visit.consents]).toEqual([0, 0]);
  expect(first.claims.auth_time).toEqual(expect.any(Number));
  expect(second.claims.auth_time).toBe(first.claims.auth_time);
  expect(second.claims.sub).toBe(first.claims.sub);
}

/** Checks that the provider asked the user again at the second sign-in. */
function checkSignedInAgain([first, second]: readonly [SignIn, SignIn]): void {
  expect(second.visit.logins).toBe(1);
  expect(Number(second.claims.auth_time)).toBeGreaterThan(Number(first.claims.auth_time));
}

const screenshot = { review: 'the original asks for a screenshot of the second login page' };

/** Conformance modules about users who must sign in again, and users who need not. */
export const sessions: readonly Module[] = [
  module(
    'oidcc-prompt-login',
    '`prompt=login` asks a signed-in user for credentials, and `auth_time` shows it',
    async (suite) => checkSignedInAgain(await twice(suite, () => ({ prompt: 'login' }))),
    screenshot,
  ),
  module(
    'oidcc-prompt-none-not-logged-in',
    '`prompt=none` without a session returns with `login_required` and an unchanged long `state`',
    async (suite) => {
      const request = suite.request({ prompt: 'none', state: randomText(96) });
      expect(request.state).toHaveLength(128);
      expect(await refused(suite, request)).toBe('login_required');
    },
  ),
  module(
    'oidcc-prompt-none-logged-in',
    '`prompt=none` with a session succeeds without a page; `auth_time` and `sub` stay',
    async (suite) => checkSameSession(await twice(suite, () => ({ prompt: 'none' }))),
  ),
  module(
    'oidcc-max-age-1',
    '`max_age=1` two seconds after the login asks for credentials; the new `auth_time` is later and recent',
    async (suite) => {
      const both = await twice(suite, () => ({ max_age: '1' }));
      checkSignedInAgain(both);
      const now = suite.clock.now() / 1000;
      expect(now - Number(both[1].claims.auth_time)).toBeLessThanOrEqual(1);
    },
    screenshot,
  ),
  module(
    'oidcc-max-age-10000',
    '`max_age=10000` shortly after the login shows no login page; `auth_time` and `sub` stay',
    async (suite) => checkSameSession(await twice(suite, () => ({ max_age: '10000' }), { max_age: '15000' })),
  ),
  module(
    'oidcc-id-token-hint',
    '`prompt=none` with the ID token of the session as `id_token_hint` succeeds without a page',
    async (suite) =>
      checkSameSession(await twice(suite, ({ idToken }) => ({ prompt: 'none', id_token_hint: idToken }))),
  ),
];
