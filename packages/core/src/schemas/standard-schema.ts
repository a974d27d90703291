/**
 * Members of the Standard Schema interface (version 1) that this package uses. zod, valibot, arktype and
 * others implement the interface.
 */
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

/** A problem that a schema found in a value, and the path to the faulty part. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Validates a value with a synchronous Standard Schema and returns the result.
 * @param name - name of the validated value, for the error text
 * @throws TypeError if the schema validates asynchronously
 */
export function checkedNow(
  validate: (value: unknown) => unknown,
  value: unknown,
  name: string,
): { readonly value?: unknown; readonly issues?: readonly SchemaIssue[] | undefined } {
  const result = Object(validate(value));
  if ('then' in result) {
    // Ignore the result; a rejection must not end the process.
    Promise.resolve(result).catch(() => {});
    throw new TypeError(`${name}: the schema has to check synchronously`);
  }
  return result;
}
