import { inspect } from 'node:util';
import type { Core } from '../context.ts';
import { PartnerError } from '../errors.ts';
import type { Mode } from '../ports/partners.ts';
import type { UserRecord } from '../ports/users.ts';
import { requireSameUser } from '../user-record.ts';
import { sandboxUsers } from './sandbox.ts';

export interface Asker {
  readonly partner: string;
  readonly mode: Mode;
}

const shownScopes: ReadonlySet<string> = new Set(['openid', 'profile', 'kyc']);

/** What a host throws may name the number that it was asked for, and goes to the log; the number must not. */
function withoutPhone(thrown: unknown, phone: string): unknown {
  const digits = phone.slice(1);
  if (!inspect(thrown, { depth: 5 }).includes(digits)) return thrown;
  const redacted = new Error(String(thrown).replaceAll(digits, '[redacted]'));
  // Where the host's code threw it is what the host looks for in the log.
  if (thrown instanceof Error) redacted.stack = String(thrown.stack).replaceAll(digits, '[redacted]');
  return redacted;
}

export type UserLookup = ReturnType<typeof createUserLookup>;

/**
 * Finds users for partners: real ones for live keys, sandbox users for test keys, never the other way round. `null` when
 * there is no such user, or the host hides the user from this partner. The host must have `findByKid` and `findByPhone`;
 * options are checked for that.
 */
export function createUserLookup({ options: { users } }: Core) {
  async function visible(
    asker: Asker,
    call: 'find' | 'findByKid' | 'findByPhone',
    find: () => Promise<UserRecord | null> | UserRecord | null | undefined,
    asked: Partial<Pick<UserRecord, 'sub' | 'kid'>> = {},
  ): Promise<UserRecord | null> {
    const user = requireSameUser((await find()) ?? null, asked, `users.${call}`);
    if (user === null || users.isVisible === undefined) return user;
    return (await users.isVisible(user, asker.partner)) ? user : null;
  }

  const inSandbox = async (
    matches: (user: (typeof sandboxUsers)[number]) => boolean,
  ): Promise<UserRecord | null> => sandboxUsers.find(matches) ?? null;

  return {
    bySub: (asker: Asker, sub: string) =>
      asker.mode === 'test'
        ? inSandbox((user) => user.sub === sub)
        : visible(asker, 'find', () => users.find(sub, shownScopes), { sub }),
    byKid: (asker: Asker, kid: string) =>
      asker.mode === 'test'
        ? inSandbox((user) => user.kid === kid)
        : visible(asker, 'findByKid', () => users.findByKid?.(kid), { kid }),
    async byPhone(asker: Asker, phone: string) {
      if (asker.mode === 'test') return inSandbox((user) => user.phone === phone);
      try {
        return await visible(asker, 'findByPhone', () => users.findByPhone?.(phone));
      } catch (error) {
        throw withoutPhone(error, phone);
      }
    },
  };
}

/** @throws PartnerError `not_found`, for a user that is not there as for one that is hidden */
export function requireUser(user: UserRecord | null): UserRecord {
  if (user === null) throw new PartnerError('not_found', { description: 'There is no such user.' });
  return user;
}
