import type { z } from 'zod';

/** What an administrator gave, checked. @throws TypeError that names what is wrong, by its path */
export function checked<Output>(schema: z.ZodType<Output>, input: unknown): Output {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new TypeError(
    result.error.issues.map(({ path, message }) => `${path.join('.') || 'argument'}: ${message}`).join('; '),
  );
}

/** A time of the store as it is shown: ISO 8601. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}

/** The same for a time that may be missing. */
export function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time);
}
