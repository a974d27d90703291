import { cookie } from '@ostiary/web-kit';
import { knownLifetimeMs } from './known-browsers.ts';

export type Cookies = ReturnType<typeof createCookies>;

/**
 * Makes the cookies of this server. All but `known` end with the browser; the database limits the lifetime of
 * sessions.
 */
export function createCookies(authUrl: string) {
  const secure = authUrl.startsWith('https:');
  return {
    /** Cookie with the session id. */
    session: cookie('ostiary_session', secure),
    /** Cookie with the value that form tokens are bound to. It is set before anybody is signed in. */
    form: cookie('ostiary_form', secure),
    /** Cookie with the session id of a staff member. */
    staff: cookie('ostiary_staff', secure),
    /** Cookie with the value that form tokens of staff are bound to. */
    staffForm: cookie('ostiary_staff_form', secure),
    /** Cookie that lists which users have signed in with this browser; see `known-browsers.ts`. */
    known: cookie('ostiary_known', secure, knownLifetimeMs / 1_000),
  };
}
