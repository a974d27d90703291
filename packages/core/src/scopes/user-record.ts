import type { UserRecord } from '../ports/users.ts';
import type { Logger } from '../telemetry/logger.ts';
import { userIdFormat, userIdWords } from './user-ids.ts';

/** Says why a host's user record cannot be used, a defect of the host. */
export class UserRecordError extends TypeError {
  override readonly name = 'UserRecordError';
}

/** Returns the user's public id: `kid`, or `sub` where the host has no other one. */
export const publicId = ({ sub, kid }: UserRecord): string => kid ?? sub;

/**
 * Fields that a host may not know. Answers leave them out: a default such as `pending` would state something about the user. The fields of
 * `wallet:balance` and `identity` are not among them, because nothing but these scopes shows them.
 */
export const optionalFields: ReadonlySet<string> = new Set<keyof UserRecord>([
  'role',
  'country',
  'createdAt',
  'name',
  'handle',
  'avatarUrl',
  'kycTier',
  'kycStatus',
]);

/**
 * Reads a field as it is shown: `kid` falls back to `sub`, and a database's NULL in an optional field counts as missing.
 * `avatarUrl` keeps its `null`, which says that the user has no picture.
 */
export function shownField(user: UserRecord, field: keyof UserRecord): unknown {
  if (field === 'kid') return publicId(user);
  const value = user[field];
  return value === null && field !== 'avatarUrl' && optionalFields.has(field) ? undefined : value;
}

/** Logs fields that answers leave out. */
export type MissingFieldLog = (fields: readonly string[]) => void;

/** Logs each optional field that user records lack once, and never again in this process: most hosts lack it for every user. */
export function missingFieldLog(logger: Logger): MissingFieldLog {
  const logged = new Set<string>();
  return (fields) => {
    const missing = fields.filter((field) => optionalFields.has(field) && !logged.has(field));
    if (missing.length === 0) return;
    for (const field of missing) logged.add(field);
    logger.warn(
      { missing },
      'a user record lacks fields: answers leave them out, and this is logged once for each field',
    );
  };
}

function requireId(id: unknown, field: 'sub' | 'kid', call: string): asserts id is string {
  // An id that the database has as a number is the usual reason.
  if (typeof id !== 'string') throw new UserRecordError(`${call}: ${field} has to be a string`);
  if (!userIdFormat.test(id)) throw new UserRecordError(`${call}: ${field} ${userIdWords}`);
}

/**
 * Checks that the host returned the user it was asked for, with ids that every endpoint takes. Other fields are checked where
 * they are shown.
 * @param call - the host's function that returned the user
 * @throws UserRecordError
 */
export function requireSameUser(
  answer: UserRecord | null,
  asked: Partial<Pick<UserRecord, 'sub' | 'kid'>>,
  call: string,
): UserRecord | null {
  if (answer === null) return null;
  if (typeof answer !== 'object') throw new UserRecordError(`${call}: has to answer a user or null`);
  requireId(answer.sub, 'sub', call);
  requireId(publicId(answer), 'kid', call);
  // A database may find 17 where "017" was asked for, and money would go to another user.
  const isSame =
    (asked.sub === undefined || asked.sub === answer.sub) &&
    (asked.kid === undefined || asked.kid === publicId(answer));
  if (!isSame) throw new UserRecordError(`${call}: answered another user than it was asked for`);
  return answer;
}
