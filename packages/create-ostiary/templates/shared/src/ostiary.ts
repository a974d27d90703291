import { createOstiary, type Ostiary, type OstiaryOptions } from '@ostiary/core';
import { sessionOf, signOut } from './login.ts';
import { authUrl, sealingKey, trustedProxies } from './settings.ts';
import { storage } from './storage.ts';
import { findUser } from './users.ts';

/** Options of Ostiary: your users, who is signed in, and the URL of the login page. Tests use them too. */
export const options = {
  users: { find: (sub) => findUser(sub) },
  login: {
    authenticate: (request) => sessionOf(request.headers.cookie),
    loginUrl(returnTo) {
      // Pass a path only, so that the login page never redirects to another site.
      const { pathname, search } = new URL(returnTo);
      return `/login?${new URLSearchParams({ return_to: pathname + search })}`;
    },
    signOut,
  },
  // Scopes in addition to the built-in ones such as `openid` and `profile`. Each needs its fields in
  // src/users.ts.
  scopes: { email: true },
  languages: ['en', 'fr'],
} satisfies Partial<OstiaryOptions>;

/** Opens Ostiary with the settings of this machine: URL, storage and key. */
export function openOstiary(own: typeof options = options): Promise<Ostiary> {
  return createOstiary({
    ...own,
    authUrl,
    storage: storage(),
    sealingKeys: [sealingKey],
    trustedProxies,
  });
}
