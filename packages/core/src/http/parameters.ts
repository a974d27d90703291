import type { IncomingMessage } from 'node:http';
import { isUnstorable } from '../text/storable.ts';
import { decodeUtf8, invalidBody, parsedByHost, readBody } from './body.ts';
import { JsonError, parseJson, parseJsonMembers } from './json.ts';

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
 * Returns a function that adds fields of a posted form to a map. @throws OAuthError for a repeated name, and
 * for text that a database cannot store
 */
function fieldsInto<Value>(fields: Map<string, Value>) {
  return (name: string, value: Value): void => {
    if (isUnstorable(name) || (typeof value === 'string' && isUnstorable(value)))
      throw invalidBody('A parameter holds U+0000.');
    if (fields.has(name)) throw invalidBody(`The parameter ${shownName(name)} is given twice.`);
    fields.set(name, value);
  };
}

/**
 * Checks whether an OAuth parameter may occur several times (RFC 8707, section 2). The values of such a
 * parameter are joined to one text, separated by spaces.
 */
export const hasManyValues = (name: string): boolean => name === 'resource';

/**
 * Appends a value to the joined values of a parameter that may occur several times. Encodes spaces within the
 * value as URIs do.
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
 * Parses `application/x-www-form-urlencoded` text strictly. Each name may occur once, except that values of
 * `resource` are joined if `names` contains it; see {@link hasManyValues}.
 * @param names - names to read, others are ignored; `null` reads every name
 */
function parseForm(text: string, names: ReadonlySet<string> | null): Map<string, string> {
  const parameters = new Map<string, string>();
  const take = fieldsInto(parameters);
  for (const [writtenName, writtenValue] of formPairs(text)) {
    const name = decodedOrNull(writtenName);
    if (names !== null && (name === null || !names.has(name))) continue;
    const value = decodedOrNull(writtenValue);
    if (name === null || value === null) throw invalidBody('A parameter is not valid percent-encoded UTF-8.');
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
 * Reads the members of a JSON object. Each must be a string; `resource`, if `names` contains it, may also be a
 * list of strings.
 * @param names - names to read, others are ignored; `null` reads every name
 */
function stringMembers(value: unknown, names: ReadonlySet<string> | null): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidBody('The body has to be a JSON object.');
  }
  const parameters = new Map<string, string>();
  for (const [name, member] of Object.entries(value)) {
    if (names !== null && !names.has(name)) continue;
    if (names !== null && hasManyValues(name) && isListOfText(member)) {
      for (const value of member) parameters.set(name, withValue(parameters.get(name), value));
      continue;
    }
    if (typeof member !== 'string') throw invalidBody(`The member ${shownName(name)} has to be a string.`);
    parameters.set(name, member);
  }
  return parameters;
}

/**
 * Reads a form that an app posts through the user's browser.
 * @returns the text of the form, or the object that a body parser of the host has made of it
 */
export async function readPostedForm(request: IncomingMessage): Promise<string | object> {
  const parsed = parsedByHost(request);
  if (parsed === undefined) return decodeUtf8(await readBody(request));
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw invalidBody('The body has to be a form.');
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
    throw invalidBody(
      'The Content-Type has to be application/json or application/x-www-form-urlencoded.',
      415,
    );
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw invalidBody('Encoded bodies are not supported.', 415);

  const parsed = parsedByHost(request);
  if (parsed !== undefined) return stringMembers(parsed, names);

  const text = decodeUtf8(await readBody(request));
  // Take an empty body of type JSON for no parameters: some HTTP clients announce JSON and send nothing.
  if (!isJson || text === '') return parseForm(text, names);
  try {
    return stringMembers(names === null ? parseJson(text) : parseJsonMembers(text, names), names);
  } catch (error) {
    throw error instanceof JsonError ? invalidBody(error.message) : error;
  }
}

/**
 * Reads the fields of a form that was posted from a page of this service. Values are strings, and each name
 * may occur once.
 * @throws OAuthError `invalid_request`; with status 413 for a long body, 415 for its media type, 408 for a slow body
 */
export function readParameters(request: IncomingMessage): Promise<Map<string, string>> {
  return readMembers(request, null);
}

/**
 * Reads the parameters of a request to an OAuth endpoint, sent as JSON (the specification) or as a form
 * (every OAuth library). Values are strings, and each name except `resource` may occur once; see
 * {@link hasManyValues}. Unknown parameters are ignored, whatever their value (RFC 6749, section 3.2).
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
    .catch(() => Promise.reject(invalidBody('The body is no valid multipart/form-data.')));
  const [fields, files] = [new Map<string, string>(), new Map<string, Uint8Array>()];
  const [takeField, takeFile] = [fieldsInto(fields), fieldsInto(files)];
  for (const [name, value] of sent) {
    if (typeof value === 'string') takeField(name, value);
    else if (value.size > 0) takeFile(name, new Uint8Array(await value.arrayBuffer()));
  }
  return { fields, files };
}
