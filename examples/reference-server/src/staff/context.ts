import { createHmac } from 'node:crypto';
import { isLoopbackUrl } from '@ostiary/web-kit';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { ServerConfig } from '../config.ts';
import type { Installation } from '../installation.ts';
import type { SignInContext } from '../sign-in/context.ts';
import { createFormProofs } from '../sign-in/form-proofs.ts';
import { createThrottle, type ThrottleLimits } from '../sign-in/throttle.ts';
import type { StaffLink, StaffMember } from './members.ts';
import { createPasskeys } from './passkeys.ts';

/** Objects and functions that the pages where staff sign in need. */
export type StaffContext = ReturnType<typeof createStaffContext>;

export function createStaffContext(
  { authUrl, name }: ServerConfig,
  { database, staff, staffSessions, deriveKeys, admin, now }: Installation,
  { branding, csrf, cookies, addressOf }: SignInContext,
  logger: Logger,
  limits: Partial<ThrottleLimits> = {},
) {
  const [enrolmentKey] = deriveKeys('staff enrolment');

  /** Adds an act of a staff member to the audit log. */
  const record = (
    { email, role }: StaffMember,
    action: string,
    details: { readonly [name: string]: string } = {},
  ): Promise<void> => admin.as(email, { role }).audit.record({ action, target: `staff:${email}`, details });

  return {
    ...{ authUrl, name, branding, csrf, cookies, addressOf, staff, now, logger },
    sessions: staffSessions,
    forms: createFormProofs(authUrl, csrf, cookies.staffForm),
    passkeys: createPasskeys(authUrl, name, deriveKeys('staff passkeys'), now),
    throttle: createThrottle(database, deriveKeys('staff throttle'), now, limits),
    /** True if a password without a second factor may sign in: only on a loopback address, as in the demo. */
    isCodeOptional: isLoopbackUrl(authUrl),
    /**
     * Returns the secret of the one-time codes that an invitation link sets up. The secret is the same each
     * time the link is opened.
     */
    secretOf: ({ token }: StaffLink): Uint8Array =>
      createHmac('sha256', enrolmentKey).update(token).digest().subarray(0, 20),
    /** Returns the staff member who is signed in, with the session; `null` for nobody. */
    async signedIn(ctx: Context) {
      const session = await staffSessions.find(cookies.staff.read(ctx.req));
      const member = session && (await staff.get(session.sub));
      return session === null || member === null ? null : { session, member };
    },
    /** Starts a session, ends the session before, and makes all earlier forms invalid. */
    async start(ctx: Context, member: StaffMember, how: 'password' | 'passkey'): Promise<void> {
      const before = await staffSessions.find(cookies.staff.read(ctx.req));
      ctx.append('Set-Cookie', cookies.staff.set(await staffSessions.start(member.id, before)));
      ctx.append('Set-Cookie', cookies.staffForm.set(csrf.newCookie()));
      await record(member, 'staff.sign_in', { how });
    },
    record,
  };
}
