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
 * Returns the event types to register an endpoint for; the name `*` stands for all types. Reads the list of
 * types from the service only if another name has a star in it, such as `payment.*`. Other names are returned
 * as they are, because the service refuses names that it does not know.
 * @throws UsageError if a name with a star matches no type
 */
export async function eventTypes(types: readonly string[], baseUrl: string): Promise<readonly string[]> {
  if (types.includes('*')) return ['*'];
  if (!types.some((type) => type.includes('*'))) return types;
  const url = `${baseUrl.replace(/\/+$/, '')}/v1/openapi.json`;
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  const { webhooks = {} } = (await response.json()) as Description;
  const known = Object.keys(webhooks);
  const found = types.flatMap((type) => {
    if (!type.includes('*')) return [type];
    const matching = known.filter((name) => patternOf(type).test(name));
    if (matching.length > 0) return matching;
    throw new UsageError(`--events: ${type} matches none of the types ${known.join(', ')}`);
  });
  return [...new Set(found)];
}
