import type { Login } from '@ostiary/core';
import type { AskingApps } from './asking-apps.ts';
import type { Cookies } from './cookies.ts';
import type { Sessions } from './sessions.ts';

/**
 * Makes the option `login` of Ostiary: which user is signed in, the URL of the sign-in page, and signing out.
 */
export function createLogin(
  authUrl: string,
  sessions: Sessions,
  cookies: Cookies,
  askingApps: AskingApps,
): Required<Omit<Login, 'acrValues'>> {
  return {
    async authenticate(request) {
      const session = await sessions.find(cookies.session.read(request));
      return session && { sub: session.sub, authenticatedAt: session.authenticatedAt };
    },
    async signOut(request, response) {
      const session = await sessions.find(cookies.session.read(request));
      if (session !== null) await sessions.end(session);
      response.appendHeader('Set-Cookie', [cookies.session.remove, cookies.form.remove]);
    },
    loginUrl(returnTo, { reauthenticate, client, cancelUrl, loginHint, uiLocales }) {
      const url = new URL('/login', authUrl);
      url.searchParams.set('return_to', returnTo);
      if (reauthenticate) url.searchParams.set('reauthenticate', '1');
      if (client !== undefined && cancelUrl !== undefined)
        url.searchParams.set('app', askingApps.sealed(returnTo, { name: client.name, cancelUrl }));
      if (loginHint !== undefined) url.searchParams.set('login_hint', loginHint);
      if (uiLocales !== undefined) url.searchParams.set('ui_locales', uiLocales.join(' '));
      return url.href;
    },
  };
}
