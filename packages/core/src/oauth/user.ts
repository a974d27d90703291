import type { Core } from '../context.ts';
import type { UserRecord } from '../ports/users.ts';

/** Why a host's user record could not be used: a defect of the host. */
export class UserRecordError extends TypeError {
  override readonly name = 'UserRecordError';
}

/**
 * Looks a user up at the host, and checks that the answer is about this user. The fields are checked where
 * they are shown.
 * @throws UserRecordError
 */
export async function findUser(
  core: Core,
  sub: string,
  scopes: readonly string[],
): Promise<UserRecord | null> {
  const user = await core.options.users.find(sub, new Set(scopes));
  if (user === null) return null;
  if (typeof user !== 'object') throw new UserRecordError('users.find: has to answer a user or null');
  // An id that the database has as a number is the usual reason.
  if (typeof user.sub !== 'string') throw new UserRecordError('users.find: sub has to be a string');
  if (user.sub !== sub) throw new UserRecordError('users.find: answered another user than it was asked for');
  return user;
}

/** How the pages address a user, `null` where the host tells no name. */
export async function displayName(core: Core, sub: string): Promise<string | null> {
  const user = await findUser(core, sub, ['profile']);
  // Who has just signed in: usually an id of another type or column. No code of theirs will be redeemed.
  if (user === null)
    core.options.logger.warn({}, 'login.authenticate named a sub that users.find does not know');
  return user?.name ?? user?.handle ?? null;
}
