import { z } from 'zod';
import { type ErrorDetail, PartnerError } from '../../errors.ts';
import { decodeUtf8 } from '../../http/body.ts';
import { isUnstorable, JsonError, parseJson } from '../../http/json.ts';
import type { PartnerRoute } from '../request.ts';

/** What zod found, as details of an error. */
function detailsOf(issues: readonly z.core.$ZodIssue[], base: readonly string[] = []): ErrorDetail[] {
  return issues.flatMap((issue): ErrorDetail[] => {
    const path = [...base, ...issue.path.map(String)];
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...path, key.slice(0, 64)].join('.'),
        message: 'is not a known field',
      }));
    }
    if (issue.code === 'invalid_union') {
      // The alternative that was meant is the one that is closest; where two are, the whole is to blame.
      const [closest = [], second = []] = issue.errors.toSorted((a, b) => a.length - b.length);
      if (closest.length < second.length) return detailsOf(closest, path);
    }
    return [{ path: path.join('.'), message: issue.message }];
  });
}

function checked(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = detailsOf(result.error.issues);
  throw new PartnerError('invalid_request', { details: details.slice(0, 20) });
}

/** @throws PartnerError `invalid_request` */
export function parseBody(
  route: PartnerRoute,
  bytes: Buffer,
  headers: { readonly [name: string]: string | string[] | undefined },
): unknown {
  if (route.body === undefined) {
    if (bytes.length > 0)
      throw new PartnerError('invalid_request', { description: 'This endpoint takes no body.' });
    return undefined;
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new PartnerError('invalid_request', {
      status: 415,
      description: 'Encoded bodies are not supported.',
    });
  }
  const [mediaType = ''] = String(headers['content-type'] ?? '')
    .toLowerCase()
    .split(';');
  if (mediaType.trim() !== 'application/json') {
    throw new PartnerError('invalid_request', {
      status: 415,
      description: 'The Content-Type has to be application/json.',
    });
  }
  try {
    return checked(route.body, parseJson(decodeUtf8(bytes)));
  } catch (error) {
    throw error instanceof JsonError
      ? new PartnerError('invalid_request', { description: error.message })
      : error;
  }
}

/** Of routes that take no query. Made once: making a schema costs more than using it. */
const noQuery = z.strictObject({});

/** @throws PartnerError `invalid_request` */
export function parseQuery(route: PartnerRoute, querystring: string): unknown {
  if (route.query === undefined && querystring === '') return {};
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(querystring)) {
    const blame = (message: string) =>
      new PartnerError('invalid_request', { details: [{ path: name.slice(0, 64), message }] });
    if (name in query) throw blame('is given twice');
    if (isUnstorable(value)) throw blame('holds U+0000');
    query[name] = value;
  }
  return checked(route.query ?? noQuery, { ...query });
}

/** A path whose parts cannot be what they should be leads nowhere. @throws PartnerError `not_found` */
export function parsePath(route: PartnerRoute, parameters: unknown): unknown {
  if (route.pathSchema === undefined) return undefined;
  const result = route.pathSchema.safeParse(parameters);
  if (!result.success) throw new PartnerError('not_found');
  return result.data;
}
