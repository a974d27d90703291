import type { UserDirectory, UserRecord } from '../ports/users.ts';
import type { Logger } from '../telemetry/logger.ts';
import { userIdFormat, userIdWords } from './user-ids.ts';

/**
 * Thrown when the host application returned a user record that cannot be used, which is a bug of the host.
 */
export class UserRecordError extends TypeError {
  override readonly name = 'UserRecordError';
}

/** Returns the user's public id: `kid`, or `sub` if the record has no `kid`. */
export const publicId = ({ sub, kid }: UserRecord): string => kid ?? sub;

/**
 * Returns the name by which pages address a user; `null` if the host application does not provide one.
 * @param showHandle - true to add the handle to the name (`theme.showHandle`)
 */
export function displayName(user: UserRecord | null, showHandle: boolean): string | null {
  const { name = null, handle = null } = user ?? {};
  if (showHandle && name !== null && handle !== null) return `${name} (${handle})`;
  return name ?? handle;
}

/**
 * Fields of a user record that a host application may leave out. Responses then leave them out too: a default
 * such as `pending` would state something about the user. Fields of `wallet:balance` and `identity` are
 * required, because these scopes exist only to show them.
 */
const optionalFields: ReadonlySet<string> = new Set<keyof UserRecord>([
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
 * Reads a field of a user record in the form that is shown: `kid` falls back to `sub`, and a NULL from a
 * database in an optional field counts as missing. `avatarUrl` keeps its `null`, which means that the user
 * has no picture.
 */
export function shownField(user: UserRecord, field: keyof UserRecord): unknown {
  if (field === 'kid') return publicId(user);
  const value = user[field];
  return value === null && field !== 'avatarUrl' && optionalFields.has(field) ? undefined : value;
}

/** Logs the names of fields that responses leave out because the user record lacks them. */
export type MissingFieldLog = (fields: readonly string[]) => void;

/**
 * Creates a function that logs each optional field that user records lack, once per process, because most
 * hosts lack a field for every user.
 */
export function missingFieldLog(logger: Logger): MissingFieldLog {
  const logged = new Set<string>();
  return (fields) => {
    const missing = fields.filter((field) => optionalFields.has(field) && !logged.has(field));
    if (missing.length === 0) return;
    for (const field of missing) logged.add(field);
    logger.warn(
      { missing },
      'a user record lacks fields: responses leave them out, and this is logged once for each field',
    );
  };
}

function requireId(id: unknown, field: 'sub' | 'kid', call: string): asserts id is string {
  // The usual cause is a database that stores the id as a number.
  if (typeof id !== 'string') throw new UserRecordError(`${call}: ${field} has to be a string`);
  if (!userIdFormat.test(id)) throw new UserRecordError(`${call}: ${field} ${userIdWords}`);
}

/**
 * Checks that the host application returned the user who was requested, with ids in the format that all
 * endpoints accept. Other fields are checked where they are shown.
 * @param call - name of the host's function that returned the user, for the error text
 * @throws UserRecordError if the user is another one, or an id is malformed
 */
export function requireSameUser(
  answer: UserRecord | null,
  asked: Partial<Pick<UserRecord, 'sub' | 'kid'>>,
  call: string,
): UserRecord | null {
  if (answer === null) return null;
  if (typeof answer !== 'object') throw new UserRecordError(`${call}: must return a user or null`);
  requireId(answer.sub, 'sub', call);
  requireId(publicId(answer), 'kid', call);
  // A database may find 17 for "017", and money would go to another user.
  const isSame =
    (asked.sub === undefined || asked.sub === answer.sub) &&
    (asked.kid === undefined || asked.kid === publicId(answer));
  if (!isSame) throw new UserRecordError(`${call}: returned another user than the one requested`);
  return answer;
}

/**
 * Reads a user from the host application's directory; `null` if there is no such user. @throws
 * UserRecordError if the host returns another user, or a malformed id
 */
export async function findUser(
  users: UserDirectory,
  sub: string,
  scopes: readonly string[],
): Promise<UserRecord | null> {
  return requireSameUser(await users.find(sub, new Set(scopes)), { sub }, 'users.find');
}
