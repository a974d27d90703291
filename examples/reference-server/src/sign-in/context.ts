import { readFileSync } from 'node:fs';
import { createStyle } from '@ostiary/web-kit';
import type { ServerConfig } from '../config.ts';
import type { Installation } from '../installation.ts';
import { createCsrf } from './csrf.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { createThrottle, type ThrottleLimits } from './throttle.ts';

const rules = readFileSync(new URL('../../public/pages.css', import.meta.url), 'utf8');

/** Objects and functions that the pages of this server need. */
export type SignInContext = ReturnType<typeof createContext>;

export function createContext(
  { authUrl, name, colour, languages }: ServerConfig,
  { ostiary, database, accounts, sessions, cookies, askingApps, now, deriveKeys }: Installation,
  limits: Partial<ThrottleLimits> = {},
) {
  return {
    ...{ authUrl, colour, accounts, sessions, cookies, askingApps, now },
    branding: { name, languages, style: createStyle(colour, rules) },
    csrf: createCsrf(deriveKeys('csrf')),
    browsers: createKnownBrowsers(deriveKeys('known browsers'), now),
    throttle: createThrottle(database, deriveKeys('throttle'), now, limits),
    addressOf: ostiary.clientAddress,
    passports: ostiary.passports,
    signedOut: ostiary.users.signedOut,
  };
}
