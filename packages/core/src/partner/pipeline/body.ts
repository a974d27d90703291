import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { PartnerError } from '../../errors.ts';
import { decodeUtf8 } from '../../http/body.ts';
import { JsonError, parseJson } from '../../http/json.ts';
import { inPlainWords, problemsOf } from '../../text/plain-words.ts';
import { isUnstorable } from '../../text/storable.ts';
import type { PartnerOperation } from '../request.ts';

function checked(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value, inPlainWords);
  if (result.success) return result.data;
  throw new PartnerError('invalid_request', { details: problemsOf(result.error.issues).slice(0, 20) });
}

/** Path, query and body of a request before they are parsed. */
export interface RawInput {
  /** Path parameters of the request. */
  readonly path: unknown;
  readonly querystring: string;
  readonly bytes: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Parses the path, the query and the body of a request with the schemas of its operation.
 * @throws PartnerError `not_found` for a malformed id in the path, `invalid_request` for other malformed input
 */
export function parseInput(operation: PartnerOperation, { path, querystring, bytes, headers }: RawInput) {
  return {
    path: parsePath(operation, path),
    query: parseQuery(operation, querystring),
    body: parseBody(operation, bytes, headers),
  };
}

/** Parses the JSON body of a request with its schema. @throws PartnerError `invalid_request` if the body is malformed */
function parseBody(route: PartnerOperation, bytes: Buffer, headers: IncomingHttpHeaders): unknown {
  if (route.body === undefined) {
    if (bytes.length > 0)
      throw new PartnerError('invalid_request', { description: 'This endpoint takes no body.' });
    return undefined;
  }
  if (bytes.length === 0 && route.bodyIsOptional === true) return checked(route.body, {});
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

/**
 * Schema for operations without query parameters. Created once, because creating a schema costs more than
 * using it.
 */
const noQuery = z.strictObject({});

/** Parses the query of a request with its schema. @throws PartnerError `invalid_request` if the query is malformed */
function parseQuery(route: PartnerOperation, querystring: string): unknown {
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

/**
 * Parses path parameters of a request. A malformed id counts as not found; a malformed value that the client
 * composed, such as a phone number, counts as an invalid request.
 * @throws PartnerError `not_found` or `invalid_request`, whichever the operation's `wrongPath` names
 */
function parsePath(route: PartnerOperation, parameters: unknown): unknown {
  if (route.pathSchema === undefined) return undefined;
  if (route.wrongPath === 'invalid_request') return checked(route.pathSchema, parameters);
  const result = route.pathSchema.safeParse(parameters);
  if (!result.success) throw new PartnerError('not_found');
  return result.data;
}
