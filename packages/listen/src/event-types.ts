import { UsageError } from './arguments.ts';

/** Part of the API description that lists the event types. */
interface Description {
  readonly webhooks?: { readonly [type: string]: unknown };
}

/** Makes the regular expression for an event type in which a star stands for any characters. */
const patternOf = (type: string): RegExp =>
  new RegExp(
    `^${type
      .split('*')
      .map((part) => part.replaceAll(/[^\w-]/g, '\\$&'))
      .join('.*')}$`,
  );

/**
 * Returns the event types to register an endpoint for; `*` alone stands for all types. Reads the list of types
 * from the service only if a name has a star in it, such as `payment.*`.
 * @throws UsageError if no type of the service matches such a name
 */
export async function eventTypes(types: readonly string[], baseUrl: string): Promise<readonly string[]> {
  if (types.includes('*')) return ['*'];
  if (!types.some((type) => type.includes('*'))) return types;
  const url = `${baseUrl.replace(/\/+$/, '')}/v1/openapi.json`;
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  const { webhooks = {} } = (await response.json()) as Description;
  const known = Object.keys(webhooks);
  const found = known.filter((name) => types.some((type) => patternOf(type).test(name)));
  if (found.length > 0) return found;
  throw new UsageError(`--events matches none of the types ${known.join(', ')}`);
}
