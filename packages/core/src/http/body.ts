import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import { discardBody } from './discarded-body.ts';
import { isUnstorable, JsonError, parseJson, parseJsonMembers } from './json.ts';

/** Largest request body, in bytes. Longer bodies are refused with 413. */
const maxBodyBytes = 64 * 1024;

/** Time in which a body must arrive, in milliseconds. A slower body is refused with 408. */
const bodyDeadlineMs = 10_000;

const invalid = (description: string, status = 400): OAuthError =>
  new OAuthError('invalid_request', description, {
    status,
    headers: status === 408 ? { Connection: 'close' } : {},
  });

const tooLong = (limit: number) => invalid(`The body may have ${limit} bytes at most.`, 413);

/** Refuses a request whose `Content-Length` exceeds the limit. @throws OAuthError with status 413 */
export async function refuseLongBody(request: IncomingMessage): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) <= maxBodyBytes) return;
  await discardBody(request);
  throw tooLong(maxBodyBytes);
}

/** Checks whether an HTTP/2 request ended with its headers; `undefined` for a request of HTTP/1. */
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

/**
 * Checks whether the whole body is already buffered, as most small bodies are. Reading it at once is much
 * quicker than listening for data.
 */
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
      // An aborted request emits an error, which without a listener would end the process.
      request.on('error', () => {});
      // After a timeout do not wait for the rest of the body: the connection is closed.
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

/**
 * Returns the bytes of a body that a parser of the host has read, if it kept them as `rawBody` (NestJS and
 * others do); `null` otherwise.
 */
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

/** Decodes the bytes of a body as UTF-8. @throws OAuthError if they are not valid UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
}

/** Splits a form or a query into pairs of names and values, still percent-encoded. */
export function formPairs(text: string): (readonly [name: string, value: string])[] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=')];
    });
}

/** Decodes a name or value of a form: `+` and percent-encoding. @throws URIError if the encoding is malformed */
export function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/**
 * Returns a function that adds fields of a form to a map. @throws OAuthError for a repeated name, and for
 * text that a database cannot store
 */
function fieldsInto<Value>(fields: Map<string, Value>) {
  return (name: string, value: Value): void => {
    if (isUnstorable(name) || (typeof value === 'string' && isUnstorable(value)))
      throw invalid('A parameter holds U+0000.');
    if (fields.has(name)) throw invalid(`The parameter ${shownName(name)} is given twice.`);
    fields.set(name, value);
  };
}

/**
 * Checks whether a parameter may occur several times (RFC 8707, section 2). Its values are joined to one
 * text, separated by spaces.
 */
export const hasManyValues = (name: string): boolean => name === 'resource';

/**
 * Appends a value to the joined values of a parameter that may occur several times. Encodes spaces within the
 * value, as URIs do.
 */
export function withValue(values: string | undefined, value: string): string {
  const added = value.replaceAll(' ', '%20');
  return values === undefined ? added : `${values} ${added}`;
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
 * Parses `application/x-www-form-urlencoded` text strictly. Each name may occur once.
 * @param names - names to read, others are ignored; `null` reads every name
 */
function parseForm(text: string, names: ReadonlySet<string> | null): Map<string, string> {
  const parameters = new Map<string, string>();
  const take = fieldsInto(parameters);
  for (const [writtenName, writtenValue] of formPairs(text)) {
    const name = decodedOrNull(writtenName);
    if (names !== null && (name === null || !names.has(name))) continue;
    const value = decodedOrNull(writtenValue);
    if (name === null || value === null) throw invalid('A parameter is not valid percent-encoded UTF-8.');
    if (names !== null && hasManyValues(name)) parameters.set(name, withValue(parameters.get(name), value));
    else take(name, value);
  }
  return parameters;
}

function shownName(name: string): string {
  return /^[\w.:-]{1,64}$/.test(name) ? name : '(unprintable name)';
}

const isListOfText = (member: unknown): member is readonly string[] =>
  Array.isArray(member) && member.every((value) => typeof value === 'string');

/**
 * Reads the members of a JSON object, all of which must be strings.
 * @param names - names to read, others are ignored; `null` reads every name
 */
function stringMembers(value: unknown, names: ReadonlySet<string> | null): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The body has to be a JSON object.');
  }
  const parameters = new Map<string, string>();
  for (const [name, member] of Object.entries(value)) {
    if (names !== null && !names.has(name)) continue;
    if (names !== null && hasManyValues(name) && isListOfText(member)) {
      for (const value of member) parameters.set(name, withValue(parameters.get(name), value));
      continue;
    }
    if (typeof member !== 'string') throw invalid(`The member ${shownName(name)} has to be a string.`);
    parameters.set(name, member);
  }
  return parameters;
}

/**
 * Returns a body that a parser of the host has read and parsed without keeping its bytes; `undefined` if
 * there is none.
 */
function parsedByHost(request: IncomingMessage): unknown {
  if (keptByHost(request, maxBodyBytes) !== null) return undefined;
  return request.readableEnded && 'body' in request ? request.body : undefined;
}

/**
 * Reads a form that an app posts through the user's browser.
 * @returns the text of the form, or the object that a body parser of the host has made of it
 */
export async function readPostedForm(request: IncomingMessage): Promise<string | object> {
  const parsed = parsedByHost(request);
  if (parsed === undefined) return decodeUtf8(await readBody(request));
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw invalid('The body has to be a form.');
}

const mediaTypeOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

/** Checks whether a content type is one for parameters: JSON or a form. */
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
  // Accept any media type with an empty body: some HTTP clients send one, and may not know the length when
  // they send the headers.
  if (!isJson || text === '') return parseForm(text, names);
  try {
    return stringMembers(names === null ? parseJson(text) : parseJsonMembers(text, names), names);
  } catch (error) {
    throw error instanceof JsonError ? invalid(error.message) : error;
  }
}

/**
 * Reads the fields of a form of our own pages. Values are strings, and each name may occur once.
 * @throws OAuthError `invalid_request`; with status 413 for a long body, 415 for its media type, 408 for a slow body
 */
export function readParameters(request: IncomingMessage): Promise<Map<string, string>> {
  return readMembers(request, null);
}

/**
 * Reads the parameters of a request to an OAuth endpoint, sent as JSON (the specification) or as a form
 * (every OAuth library). Values are strings, and each name may occur once. Unknown parameters are ignored,
 * whatever their value (RFC 6749, section 3.2).
 * @param names - names of the parameters that the endpoint reads
 * @throws OAuthError `invalid_request`; with status 413 for a long body, 415 for its media type, 408 for a slow body
 */
export function readKnownParameters(
  request: IncomingMessage,
  names: ReadonlySet<string>,
): Promise<Map<string, string>> {
  return readMembers(request, names);
}

/** Fields and files of a form that a browser posted. */
export interface Upload {
  readonly fields: ReadonlyMap<string, string>;
  /** Bytes of the chosen files by field name. Empty files are left out. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/**
 * Largest upload in bytes: the largest file that a form accepts, plus fields. Longer uploads are refused with
 * 413.
 */
const maxUploadBytes = 80 * 1024;

/**
 * Reads the fields of a posted form, and its files if it is `multipart/form-data` (RFC 7578). Each name may
 * occur once.
 * @throws OAuthError `invalid_request`; with status 413 for a long body, 415 for its media type, 408 for a slow body
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
