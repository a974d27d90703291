import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import { discardBody } from './discarded-body.ts';
import { isUnstorable, JsonError, parseJson, parseJsonMembers } from './json.ts';

/** Longer bodies are refused with 413. */
const maxBodyBytes = 64 * 1024;

/** Time for a complete body, in milliseconds. A slower one is refused with 408. */
const bodyDeadlineMs = 10_000;

const invalid = (description: string, status = 400): OAuthError =>
  new OAuthError('invalid_request', description, {
    status,
    headers: status === 408 ? { Connection: 'close' } : {},
  });

const tooLong = (limit: number) => invalid(`The body may have ${limit} bytes at most.`, 413);

/** @throws OAuthError with status 413 when a request announces a body that is too long */
export async function refuseLongBody(request: IncomingMessage): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) return;
  await discardBody(request);
  throw tooLong(maxBodyBytes);
}

/** Checks whether the headers of an HTTP/2 request were its last frame; `undefined` for a request of HTTP/1. */
function endsWithHeaders(request: IncomingMessage): boolean | undefined {
  const stream: unknown = 'stream' in request ? request.stream : undefined;
  if (typeof stream !== 'object' || stream === null || !('endAfterHeaders' in stream)) return undefined;
  return stream.endAfterHeaders === true;
}

/**
 * Checks whether a body follows the headers. In HTTP/1 the headers announce it (RFC 9112, section 6.3). In
 * HTTP/2 only the framing shows it (RFC 9113, section 8.1), and `Content-Length` may be absent.
 */
export function hasBody(request: IncomingMessage): boolean {
  const endsEarly = endsWithHeaders(request);
  if (endsEarly !== undefined) return !endsEarly;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A small body mostly has arrived by then: to take it at once is much quicker than to listen. */
function hasArrived(request: IncomingMessage, limit: number): boolean {
  const { complete, destroyed, readableFlowing, readableEncoding, readableLength } = request;
  // A host may have begun to read, or changed what the stream yields.
  const untouched = readableFlowing === null && readableEncoding === null;
  return complete && !destroyed && untouched && readableLength > 0 && readableLength <= limit;
}

function collectBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;

    const finish = (error: OAuthError | null): void => {
      clearTimeout(deadline);
      request.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      if (error === null) {
        resolve(Buffer.concat(chunks));
        return;
      }
      // The stream of a request that breaks off has no other listener.
      request.on('error', () => {});
      // Nothing is waited for after a body that was too slow: its connection is closed.
      if (error.status === 408) reject(error);
      else discardBody(request).then(() => reject(error), reject);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) finish(tooLong(limit));
      else chunks.push(chunk);
    };
    const onEnd = (): void => finish(null);
    const onAbort = (): void => finish(invalid('The body ended early.'));
    const deadline = setTimeout(() => finish(invalid('The body took too long.', 408)), bodyDeadlineMs);

    if (request.readableEnded || request.destroyed)
      return finish(invalid('The body was read before it came here; body parsers have to come after.'));
    if (Number(request.headers['content-length'] ?? 0) > limit) return finish(tooLong(limit));
    request.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}

/** The bytes of a body that a parser of the host has read, where it kept them: `rawBody`, as NestJS and others name it. */
function keptByHost(request: IncomingMessage, limit: number): Buffer | null {
  const kept: unknown = request.readableEnded && 'rawBody' in request ? request.rawBody : null;
  if (!(kept instanceof Uint8Array)) return null;
  if (kept.length > limit) throw tooLong(limit);
  return Buffer.from(kept.buffer, kept.byteOffset, kept.length);
}

export async function readBody(request: IncomingMessage, limit = maxBodyBytes): Promise<Buffer> {
  return (
    keptByHost(request, limit) ?? (hasArrived(request, limit) ? request.read() : collectBody(request, limit))
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws OAuthError when the bytes are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
}

/** The pairs of a form or a query, as they are written. */
export function formPairs(text: string): (readonly [name: string, value: string])[] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=')];
    });
}

/** @throws URIError */
export function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** Takes the fields of a form. @throws OAuthError for a name that comes twice, and for what cannot be stored */
function fieldsInto<Value>(fields: Map<string, Value>) {
  return (name: string, value: Value): void => {
    if (isUnstorable(name) || (typeof value === 'string' && isUnstorable(value)))
      throw invalid('A parameter holds U+0000.');
    if (fields.has(name)) throw invalid(`The parameter ${shownName(name)} is given twice.`);
    fields.set(name, value);
  };
}

/** Decodes a name or a value of a form; `null` if it is not percent-encoded UTF-8. */
function decodedOrNull(text: string): string | null {
  try {
    return formDecoded(text);
  } catch {
    return null;
  }
}

/**
 * Parses `application/x-www-form-urlencoded` text strictly; every name comes once.
 * @param names - names to read, the others are ignored; `null` for every name
 */
function parseForm(text: string, names: ReadonlySet<string> | null): Map<string, string> {
  const parameters = new Map<string, string>();
  const take = fieldsInto(parameters);
  for (const [writtenName, writtenValue] of formPairs(text)) {
    const name = decodedOrNull(writtenName);
    if (names !== null && (name === null || !names.has(name))) continue;
    const value = decodedOrNull(writtenValue);
    if (name === null || value === null) throw invalid('A parameter is not valid percent-encoded UTF-8.');
    take(name, value);
  }
  return parameters;
}

function shownName(name: string): string {
  return /^[\w.:-]{1,64}$/.test(name) ? name : '(unprintable name)';
}

/**
 * Reads the members of an object, which must be strings.
 * @param names - names to read, the others are ignored; `null` for every name
 */
function stringMembers(value: unknown, names: ReadonlySet<string> | null): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The body has to be a JSON object.');
  }
  const parameters = new Map<string, string>();
  for (const [name, member] of Object.entries(value)) {
    if (names !== null && !names.has(name)) continue;
    if (typeof member !== 'string') throw invalid(`The member ${shownName(name)} has to be a string.`);
    parameters.set(name, member);
  }
  return parameters;
}

/** The body that a parser of the host has read already, if it has, and did not keep. */
function parsedByHost(request: IncomingMessage): unknown {
  if (keptByHost(request, maxBodyBytes) !== null) return undefined;
  return request.readableEnded && 'body' in request ? request.body : undefined;
}

/**
 * Reads a form that a browser brings from an app.
 * @returns text, or the object that a parser of the host has made of it
 */
export async function readPostedForm(request: IncomingMessage): Promise<string | object> {
  const parsed = parsedByHost(request);
  if (parsed === undefined) return decodeUtf8(await readBody(request));
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw invalid('The body has to be a form.');
}

const mediaTypeOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

/** Checks whether a body of this content type holds parameters: JSON or a form. */
export function isParameters(contentType: string): boolean {
  return ['application/json', 'application/x-www-form-urlencoded'].includes(mediaTypeOf(contentType));
}

async function readMembers(
  request: IncomingMessage,
  names: ReadonlySet<string> | null,
): Promise<Map<string, string>> {
  const contentType = request.headers['content-type'] ?? '';
  const isJson = mediaTypeOf(contentType) === 'application/json';
  if (!isParameters(contentType)) {
    throw invalid('The Content-Type has to be application/json or application/x-www-form-urlencoded.', 415);
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw invalid('Encoded bodies are not supported.', 415);

  const parsed = parsedByHost(request);
  if (parsed !== undefined) return stringMembers(parsed, names);

  const text = decodeUtf8(await readBody(request));
  // HTTP clients name a media type for an empty body too, and may not know its length when they send the headers.
  if (!isJson || text === '') return parseForm(text, names);
  try {
    return stringMembers(names === null ? parseJson(text) : parseJsonMembers(text, names), names);
  } catch (error) {
    throw error instanceof JsonError ? invalid(error.message) : error;
  }
}

/**
 * Reads the fields of a form of our own pages. Values are strings, and each name comes once.
 * @throws OAuthError `invalid_request`, with status 413, 415 or 408 where that says more
 */
export function readParameters(request: IncomingMessage): Promise<Map<string, string>> {
  return readMembers(request, null);
}

/**
 * Reads the parameters of a request to an OAuth endpoint, sent as JSON (the specification) or as a form
 * (every OAuth library). Values are strings, and each name may come once. Other parameters are ignored with
 * any value (RFC 6749, section 3.2).
 * @param names - parameters that the endpoint knows
 * @throws OAuthError `invalid_request`, with status 413, 415 or 408 where that says more
 */
export function readKnownParameters(
  request: IncomingMessage,
  names: ReadonlySet<string>,
): Promise<Map<string, string>> {
  return readMembers(request, names);
}

/** A form with files, as a browser sends it. */
export interface Upload {
  readonly fields: ReadonlyMap<string, string>;
  /** The bytes of files that were chosen; none of them is empty. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Longer uploads are refused with 413: the largest file that a form takes, and its fields. */
const maxUploadBytes = 80 * 1024;

/**
 * The fields of a form, and the files where it is sent as `multipart/form-data` (RFC 7578). Each name comes once.
 * @throws OAuthError `invalid_request`, with status 413, 415 or 408 where that says more
 */
export async function readUpload(request: IncomingMessage): Promise<Upload> {
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type))
    return { fields: await readParameters(request), files: new Map() };
  const body = await readBody(request, maxUploadBytes);
  const sent = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => Promise.reject(invalid('The body is no valid multipart/form-data.')));
  const [fields, files] = [new Map<string, string>(), new Map<string, Uint8Array>()];
  const [takeField, takeFile] = [fieldsInto(fields), fieldsInto(files)];
  for (const [name, value] of sent) {
    if (typeof value === 'string') takeField(name, value);
    else if (value.size > 0) takeFile(name, new Uint8Array(await value.arrayBuffer()));
  }
  return { fields, files };
}
