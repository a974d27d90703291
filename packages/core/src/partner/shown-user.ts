import { z } from 'zod';
import type { Core } from '../options/context.ts';
import type { UserRecord } from '../ports/users.ts';
import { type ScopeDefinition, scopeNames, scopes } from '../scopes/scopes.ts';
import { shownField } from '../scopes/user-record.ts';
import { inPlainWords } from '../text/plain-words.ts';

const checks: { readonly [field: string]: z.ZodType } = Object.assign(
  {},
  ...scopeNames.map((name) => (scopes[name] as ScopeDefinition).fields),
);

/**
 * Creates a function that selects fields of a host application's user record, in the given order, and checks
 * them as userinfo does. Leaves out fields that the host does not provide.
 * @returns a function that throws a TypeError if the host's value of a field is invalid
 */
export function shownFields<Field extends keyof UserRecord>(
  { logMissingFields }: Core,
  fields: readonly Field[],
): (user: UserRecord) => Pick<UserRecord, Field> {
  // One schema for all fields, because checking field by field takes twice as long.
  const schema = z.object(Object.fromEntries(fields.map((field) => [field, checks[field] ?? z.never()])));
  return (user) => {
    const shown = Object.fromEntries(fields.map((field) => [field, shownField(user, field)]));
    const result = schema.safeParse(shown, inPlainWords);
    if (result.success) {
      logMissingFields(fields.filter((field) => shown[field] === undefined));
      return result.data as Pick<UserRecord, Field>;
    }
    const [issue] = result.error.issues;
    throw new TypeError(`users: ${issue?.path.join('.')}: ${issue?.message}`);
  };
}
