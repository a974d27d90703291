import { cookie } from '@ostiary/web-kit';
import { knownLifetimeMs } from './known-browsers.ts';

export type Cookies = ReturnType<typeof createCookies>;

/** They end with the browser, but for the last one; a session's own times are kept in the database. */
export function createCookies(authUrl: string) {
  const secure = authUrl.startsWith('https:');
  return {
    /** Holds the session id. */
    session: cookie('ostiary_session', secure),
    /** Holds what form tokens are tied to; there before anybody is signed in. */
    form: cookie('ostiary_form', secure),
    /** Says who has signed in with this browser before; see `known-browsers.ts`. */
    known: cookie('ostiary_known', secure, knownLifetimeMs / 1_000),
  };
}
