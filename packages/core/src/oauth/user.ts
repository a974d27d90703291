import type { Core } from '../options/context.ts';
import type { UserRecord } from '../ports/users.ts';
import { requireSameUser } from '../scopes/user-record.ts';

/**
 * Reads a user from the host application's directory; `null` if there is no such user. @throws
 * UserRecordError if the host returns another user
 */
export async function findUser(
  core: Core,
  sub: string,
  scopes: readonly string[],
): Promise<UserRecord | null> {
  return requireSameUser(await core.options.users.find(sub, new Set(scopes)), { sub }, 'users.find');
}

/** Returns the name by which pages address a user; `null` if the host application does not provide one. */
export function displayName({ options }: Core, user: UserRecord | null): string | null {
  const { name = null, handle = null } = user ?? {};
  if (options.theme.showHandle && name !== null && handle !== null) return `${name} (${handle})`;
  return name ?? handle;
}
