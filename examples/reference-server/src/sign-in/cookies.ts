import { cookie } from '@ostiary/web-kit';
import { knownLifetimeMs } from './known-browsers.ts';

export type Cookies = ReturnType<typeof createCookies>;

/**
 * Makes the cookies of this server. All of them except `known` end when the browser closes; the database
 * limits the lifetime of sessions.
 */
export function createCookies(authUrl: string) {
  const secure = authUrl.startsWith('https:');
  return {
    /** Cookie with the id of a user's session. */
    session: cookie('ostiary_session', secure),
    /**
     * Cookie with the value to which form tokens are bound. The cookie is set before any user is signed in.
     */
    form: cookie('ostiary_form', secure),
    /** Cookie with the id of a staff member's session. */
    staff: cookie('ostiary_staff', secure),
    /** Cookie with the value to which form tokens of staff are bound. */
    staffForm: cookie('ostiary_staff_form', secure),
    /** Cookie that lists which users have signed in with this browser; see `known-browsers.ts`. */
    known: cookie('ostiary_known', secure, knownLifetimeMs / 1_000),
  };
}
