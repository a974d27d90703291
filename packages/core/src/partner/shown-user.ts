import { z } from 'zod';
import { inPlainWords } from '../plain-words.ts';
import type { UserRecord } from '../ports/users.ts';
import { type ScopeDefinition, scopeNames, scopes } from '../scopes.ts';

const checks: { readonly [field: string]: z.ZodType } = Object.assign(
  {},
  ...scopeNames.map((name) => (scopes[name] as ScopeDefinition).fields),
);

/**
 * Takes fields out of a host's user record, in this order, checked as userinfo checks them.
 * @returns a function that throws a TypeError which names the field that the host got wrong
 */
export function shownFields<Field extends keyof UserRecord>(
  ...fields: readonly Field[]
): (user: UserRecord) => Pick<UserRecord, Field> {
  // One schema, made once: checking field by field takes twice as long.
  const schema = z.object(Object.fromEntries(fields.map((field) => [field, checks[field] ?? z.never()])));
  return (user) => {
    const result = schema.safeParse(user, inPlainWords);
    if (result.success) return result.data as Pick<UserRecord, Field>;
    const [issue] = result.error.issues;
    throw new TypeError(`users: ${issue?.path.join('.')}: ${issue?.message}`);
  };
}
