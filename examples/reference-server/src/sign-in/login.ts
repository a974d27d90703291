import type { Login } from '@ostiary/core';
import type { Cookies } from './cookies.ts';
import type { Sessions } from './sessions.ts';

/** What Ostiary asks this server: who is signed in, and where one signs in. */
export function createLogin(authUrl: string, sessions: Sessions, cookies: Cookies): Login {
  return {
    async authenticate(request) {
      const session = await sessions.find(cookies.session.read(request));
      return session && { sub: session.sub, authenticatedAt: session.authenticatedAt };
    },
    loginUrl(returnTo, { reauthenticate, loginHint, uiLocales }) {
      const url = new URL('/login', authUrl);
      url.searchParams.set('return_to', returnTo);
      if (reauthenticate) url.searchParams.set('reauthenticate', '1');
      if (loginHint !== undefined) url.searchParams.set('login_hint', loginHint);
      if (uiLocales !== undefined) url.searchParams.set('ui_locales', uiLocales.join(' '));
      return url.href;
    },
  };
}
