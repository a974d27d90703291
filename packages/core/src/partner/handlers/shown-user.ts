import type { z } from 'zod';
import type { UserRecord } from '../../ports/users.ts';
import { type ScopeDefinition, scopeNames, scopes } from '../../scopes.ts';

const checks = new Map<string, z.ZodType>(
  scopeNames.flatMap((name) => Object.entries((scopes[name] as ScopeDefinition).fields)),
);

/**
 * Fields of a host's user record, checked as userinfo checks them.
 * @throws TypeError that names the field which the host got wrong
 */
export function shownUser<Field extends keyof UserRecord>(
  user: UserRecord,
  fields: readonly Field[],
): Pick<UserRecord, Field> {
  for (const field of fields) {
    const result = checks.get(field)?.safeParse(user[field]);
    if (result?.success !== true)
      throw new TypeError(`users: ${field}: ${result?.error.issues[0]?.message ?? 'has no check'}`);
  }
  return user;
}
