import type { UserRecord } from './ports/users.ts';

/** Why a host's user record could not be used: a defect of the host. */
export class UserRecordError extends TypeError {
  override readonly name = 'UserRecordError';
}

/**
 * What the host answered, once it is sure to be about the user who was asked for. The fields are checked where they
 * are shown.
 * @param call - which function of the host's answered
 * @throws UserRecordError
 */
export function requireSameUser(
  answer: UserRecord | null,
  asked: Partial<Pick<UserRecord, 'sub' | 'kid'>>,
  call: string,
): UserRecord | null {
  if (answer === null) return null;
  if (typeof answer !== 'object') throw new UserRecordError(`${call}: has to answer a user or null`);
  for (const name of ['sub', 'kid'] as const) {
    const wanted = asked[name];
    if (wanted === undefined) continue;
    // An id that the database has as a number is the usual reason.
    if (typeof answer[name] !== 'string') throw new UserRecordError(`${call}: ${name} has to be a string`);
    // A database may find 17 where "017" was asked for, and money would go to a user whom nobody named.
    if (answer[name] !== wanted) {
      throw new UserRecordError(`${call}: answered another user than it was asked for`);
    }
  }
  return answer;
}
