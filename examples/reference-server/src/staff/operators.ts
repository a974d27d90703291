import type { IncomingMessage } from 'node:http';
import { operatorsConsole } from '@ostiary/console';
import { type OperatorCheck, type Ostiary, type OstiaryOptions, operatorRoles } from '@ostiary/core';
import type { Logger } from 'pino';
import type { ServerConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Cookies } from '../sign-in/cookies.ts';
import type { Csrf } from '../sign-in/csrf.ts';
import type { Sessions } from '../sign-in/sessions.ts';
import type { Accounts } from '../users/accounts.ts';
import type { IdentityChecks } from '../users/identity-checks.ts';
import { createOperatorUsers } from '../users/operator-users.ts';
import { staffActs } from './acts.ts';
import { createOperatorStaff } from './operator-staff.ts';
import { createProxyHeader } from './proxy-header.ts';
import type { Staff } from './staff.ts';

/** Time after a sign-in in which an operator may perform acts that cannot be undone, in milliseconds. */
export const confirmedMs = 10 * 60_000;

/** Returns the URL of the staff's sign-in page, which leads back to the requested page. */
const signInUrl = ({ url = '/' }: Pick<IncomingMessage, 'url'>, isAgain: boolean): string =>
  `/staff/login?${isAgain ? 'again=1&' : ''}return_to=${encodeURIComponent(url)}`;

/** Makes the function that tells Ostiary which staff member sent a request. */
function createStaffCheck(
  staff: Staff,
  sessions: Sessions,
  cookies: Pick<Cookies, 'staff' | 'staffForm'>,
  csrf: Pick<Csrf, 'isCookie' | 'token'>,
  now: () => number,
) {
  return async (request: IncomingMessage): Promise<OperatorCheck> => {
    const session = await sessions.find(cookies.staff.read(request));
    const member = session && (await staff.get(session.sub));
    if (session === null || member === null || member.disabledAt !== null)
      return { redirectTo: signInUrl(request, false) };
    const { email: name, role } = member;
    const isConfirmed = now() - session.authenticatedAt.getTime() < confirmedMs;
    const confirm = isConfirmed ? {} : { confirmAt: signInUrl(request, true) };
    const form = cookies.staffForm.read(request);
    const fields = csrf.isCookie(form) ? { csrf: csrf.token(form, 'staff', session.digest) } : null;
    const signOut = fields === null ? {} : { signOut: { action: '/staff/sign-out', fields } };
    return { name, role, may: operatorRoles[role], ...confirm, ...signOut };
  };
}

/** Objects and functions that the pages for operators need. */
interface Parts {
  readonly database: Database;
  readonly now: () => number;
  readonly logger: Logger;
  readonly accounts: Accounts;
  readonly identityChecks: IdentityChecks;
  /** Returns the Ostiary instance, once it is open. */
  readonly running: () => Ostiary;
  readonly cookies: Pick<Cookies, 'staff' | 'staffForm'>;
  readonly csrf: Csrf;
  readonly staff: Staff;
  /** Sessions of staff. */
  readonly sessions: Sessions;
}

/**
 * Makes the option `operators` of Ostiary: how operators are identified, and their pages. `null` if there are
 * no such pages.
 */
export function createOperators(
  { authUrl, operators }: Pick<ServerConfig, 'authUrl' | 'operators'>,
  { database, now, logger, accounts, identityChecks, running, cookies, csrf, staff, sessions }: Parts,
): NonNullable<OstiaryOptions['operators']> | null {
  if (operators === null) return null;
  const users = createOperatorUsers({
    ...{ database, now, accounts, identityChecks },
    signedOut: (sub) => running().users.signedOut(sub),
  });
  const authenticate =
    operators === 'accounts'
      ? createStaffCheck(staff, sessions, cookies, csrf, now)
      : createProxyHeader(
          operators,
          (request) => running().clientAddress(request),
          (message) => logger.warn(message),
          now,
        );
  const own =
    operators === 'accounts' ? { accountUrl: '/staff', staff: createOperatorStaff(staff, authUrl) } : {};
  return { authenticate, pages: operatorsConsole({ users, acts: staffActs, ...own }) };
}
