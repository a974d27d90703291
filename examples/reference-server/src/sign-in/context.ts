import type { ServerConfig } from '../config.ts';
import type { Installation } from '../installation.ts';
import { pageStyle } from '../pages/style.ts';
import { createCsrf } from './csrf.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { createThrottle, type ThrottleLimits } from './throttle.ts';

/** What the pages of this server work with. */
export type SignInContext = ReturnType<typeof createContext>;

export function createContext(
  { authUrl, name, colour, languages }: ServerConfig,
  { ostiary, database, accounts, sessions, cookies, askingApps, now, deriveKeys }: Installation,
  limits: Partial<ThrottleLimits> = {},
) {
  return {
    ...{ authUrl, colour, accounts, sessions, cookies, askingApps },
    look: { name, languages, style: pageStyle(colour) },
    csrf: createCsrf(deriveKeys('csrf')),
    browsers: createKnownBrowsers(deriveKeys('known browsers'), now),
    throttle: createThrottle(database, deriveKeys('throttle'), now, limits),
    addressOf: ostiary.clientAddress,
    passports: ostiary.passports,
    signedOut: ostiary.users.signedOut,
  };
}
