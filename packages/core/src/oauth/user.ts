import type { Core } from '../context.ts';
import type { UserRecord } from '../ports/users.ts';
import { requireSameUser } from '../user-record.ts';

/**
 * Looks a user up at the host.
 * @throws UserRecordError when the answer is about another one
 */
export async function findUser(
  core: Core,
  sub: string,
  scopes: readonly string[],
): Promise<UserRecord | null> {
  return requireSameUser(await core.options.users.find(sub, new Set(scopes)), { sub }, 'users.find');
}

/** How the pages address a user, `null` where the host tells no name. */
export function displayName(user: UserRecord | null): string | null {
  return user?.name ?? user?.handle ?? null;
}
