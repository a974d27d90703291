import { inspect } from 'node:util';
import { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import type { UserRecord } from '../ports/users.ts';
import { requireSameUser } from '../scopes/user-record.ts';
import { type SandboxUser, sandboxUsers } from './sandbox.ts';
import { sandboxKycStore } from './sandbox-kyc.ts';

const shownScopes: ReadonlySet<string> = new Set(['openid', 'profile', 'kyc']);

/** Removes the phone number from an error: errors of the host application are logged and may contain it. */
function withoutPhone(thrown: unknown, phone: string): unknown {
  const digits = phone.slice(1);
  if (!inspect(thrown, { depth: 5 }).includes(digits)) return thrown;
  const redacted = new Error(String(thrown).replaceAll(digits, '[redacted]'));
  // Keep the stack, because the host needs it in the log.
  if (thrown instanceof Error) redacted.stack = String(thrown.stack).replaceAll(digits, '[redacted]');
  return redacted;
}

export type UserLookup = ReturnType<typeof createUserLookup>;

/**
 * Creates the functions that find users for partners: real users for live keys, sandbox users for test keys.
 * They return `null` if there is no such user, or the host application hides the user from this partner. The
 * host must have `findByKid` and `findByPhone`, which the options check ensures.
 */
export function createUserLookup(core: Core) {
  const { users } = core.options;
  const sandboxKyc = sandboxKycStore(core);

  async function lookup(
    asker: Owner,
    call: 'find' | 'findByKid' | 'findByPhone',
    asked: Partial<Record<'sub' | 'kid' | 'phone', string>>,
    find: () => Promise<UserRecord | null> | UserRecord | null | undefined,
  ): Promise<UserRecord | null> {
    if (asker.mode === 'test') {
      const { sub, kid, phone } = asked;
      return (
        sandboxUsers.find((user) => user.sub === sub || user.kid === kid || user.phone === phone) ?? null
      );
    }
    const user = requireSameUser((await find()) ?? null, asked, `users.${call}`);
    if (user === null || users.isVisible === undefined) return user;
    return (await users.isVisible(user, asker.partner)) ? user : null;
  }

  return {
    bySub: (asker: Owner, sub: string) => lookup(asker, 'find', { sub }, () => users.find(sub, shownScopes)),
    byKid: (asker: Owner, kid: string) => lookup(asker, 'findByKid', { kid }, () => users.findByKid?.(kid)),
    async byPhone(asker: Owner, phone: string) {
      try {
        return await lookup(asker, 'findByPhone', { phone }, () => users.findByPhone?.(phone));
      } catch (error) {
        throw withoutPhone(error, phone);
      }
    },
    /**
     * Returns a user with the identity check that this partner sees: a partner may have changed that of a
     * sandbox user. Makes a query, so only responses that show the identity check call this.
     */
    async withKyc({ partner, mode }: Owner, user: UserRecord): Promise<UserRecord> {
      if (mode === 'live') return user;
      return { ...user, ...(await sandboxKyc.find(partner, user as SandboxUser, core.clock.now())) };
    },
  };
}

/** Returns the user, unless it is `null`. @throws PartnerError `not_found`, the same for an unknown and a hidden user */
export function requireUser(user: UserRecord | null): UserRecord {
  if (user === null) throw new PartnerError('not_found', { description: 'There is no such user.' });
  return user;
}
