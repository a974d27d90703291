import type { IncomingMessage } from 'node:http';
import type { Look } from '../pages/layout.ts';
import type { Accounts } from '../users/accounts.ts';
import type { Cookies } from './cookies.ts';
import type { Csrf } from './csrf.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { Sessions } from './sessions.ts';
import type { Throttle } from './throttle.ts';

/** What the pages of this server work with. */
export interface SignInContext {
  readonly authUrl: string;
  readonly look: Look;
  readonly colour: string;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly csrf: Csrf;
  readonly browsers: KnownBrowsers;
  readonly throttle: Throttle;
  readonly addressOf: (request: IncomingMessage) => string | null;
}
