import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import { formDecoded, formPairs, hasManyValues, readPostedForm, withValue } from '../http/parameters.ts';
import { isUnstorable } from '../text/storable.ts';

/**
 * Parameters of a request as they were sent, not yet checked. A value of `null` means that the parameter was
 * sent twice or is malformed.
 */
export type RawParameters<Name extends string> = ReadonlyMap<Name, string | null>;

export const invalid = (description: string): OAuthError => new OAuthError('invalid_request', description);

function decoded(text: string): string | null {
  try {
    const value = formDecoded(text);
    return isUnstorable(value) ? null : value;
  } catch {
    return null;
  }
}

/**
 * Combines the values of a parameter that was sent several times. Returns `null` if the parameter may occur
 * only once, or a value is malformed.
 */
function withRepetition(name: string, known: string | null | undefined, value: string | null): string | null {
  if (!hasManyValues(name)) return known === undefined ? value : null;
  return known === null || value === null ? null : withValue(known, value);
}

/** Parses a query string. Parameters without a value count as missing (RFC 6749, section 3.1). */
export function readQuery<Name extends string>(query: string, names: readonly Name[]): RawParameters<Name> {
  const known = new Set<string>(names);
  const parameters = new Map<Name, string | null>();
  for (const [rawName, text] of formPairs(query)) {
    const name = decoded(rawName);
    if (name === null || text === '' || !known.has(name)) continue;
    const parameter = name as Name;
    parameters.set(parameter, withRepetition(parameter, parameters.get(parameter), decoded(text)));
  }
  return parameters;
}

/**
 * Reads the known parameters of a form that an app posts through the user's browser.
 * @throws OAuthError for a body that is not a form
 */
export async function readForm<Name extends string>(
  request: IncomingMessage,
  names: readonly Name[],
): Promise<RawParameters<Name>> {
  const form = await readPostedForm(request);
  if (typeof form === 'string') return readQuery(form, names);
  const parameters = new Map<Name, string | null>();
  for (const [name, value] of Object.entries(form)) {
    const known = names.find((candidate) => candidate === name);
    if (known === undefined) continue;
    const values: unknown[] = hasManyValues(known) && Array.isArray(value) ? value : [value];
    for (const one of values.filter((sent) => sent !== '')) {
      const text = typeof one === 'string' && !isUnstorable(one) ? one : null;
      parameters.set(known, withRepetition(known, parameters.get(known), text));
    }
  }
  return parameters;
}

/**
 * Returns a parameter; `undefined` if it is missing. @throws OAuthError if it was sent twice or is malformed
 */
export function oneValue<Name extends string>(
  parameters: RawParameters<Name>,
  name: Name,
): string | undefined {
  const text = parameters.get(name);
  if (text === null) throw invalid(`The parameter ${name} is given twice or malformed.`);
  return text;
}

/**
 * Formats names from a client's request for an error description. Replaces names with characters that RFC
 * 6749, appendix A.7 and A.8, does not allow in a scope and in a description, and names that are longer than
 * `maxLength`.
 */
export function printed(names: readonly string[], maxLength = 64): string {
  const printable = names.map((name) =>
    name.length <= maxLength && /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name) ? name : '(malformed)',
  );
  return printable.join(' ').slice(0, 256);
}

/** Checks the lengths of parameter values. @throws OAuthError if a value has more bytes than its parameter may have */
export function requireShort<Name extends string>(
  maxBytes: Readonly<Record<Name, number>>,
  name: Name,
  value: string | undefined,
): void {
  if (value === undefined || Buffer.byteLength(value) <= maxBytes[name]) return;
  throw invalid(`The parameter ${name} may have ${maxBytes[name]} bytes at most.`);
}
