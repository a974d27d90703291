/** The part of Standard Schema (version 1) that is used; zod, valibot, arktype and others speak it. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
  };
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

/** Problem of a value, and its path. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Result of a check, as in Standard Schema.
 * @param name - what is checked, for the error
 * @throws TypeError when the answer comes later
 */
export function checkedNow(
  validate: (value: unknown) => unknown,
  value: unknown,
  name: string,
): { readonly value?: unknown; readonly issues?: readonly SchemaIssue[] | undefined } {
  const result = Object(validate(value));
  if ('then' in result) {
    // Ignore the result, because a rejection must not end the process.
    Promise.resolve(result).catch(() => {});
    throw new TypeError(`${name}: the schema has to check synchronously`);
  }
  return result;
}
