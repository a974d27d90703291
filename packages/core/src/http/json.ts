import { isUnstorable } from '../text/storable.ts';

/**
 * Deepest nesting that {@link parseJson} accepts. The depth is checked before any other function walks the
 * value.
 */
const maxDepth = 32;

export class JsonError extends Error {
  override readonly name = 'JsonError';
}

function refuseUnstorable(text: string): void {
  if (isUnstorable(text)) throw new JsonError('A string holds U+0000 or a lone surrogate.');
}

/**
 * Counts the members of all objects in a value. Refuses deep nesting and text that databases or programs
 * cannot handle.
 */
function countMembers(value: unknown, depth = 0): number {
  if (typeof value === 'string') refuseUnstorable(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === maxDepth) throw new JsonError(`JSON may be nested ${maxDepth} deep at most.`);
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + countMembers(item, depth + 1), 0);
  let count = 0;
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') throw new JsonError('The member name __proto__ is not allowed.');
    refuseUnstorable(name);
    count += 1 + countMembers(member, depth + 1);
  }
  return count;
}

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonError('The body is not valid JSON.');
  }
}

/**
 * Parses JSON more strictly than `JSON.parse`: refuses repeated members, `__proto__`, deep nesting, U+0000
 * and lone surrogates.
 * @throws JsonError, whose message may be shown to the sender
 */
export function parseJson(text: string): unknown {
  const value = parsed(text);
  // In well-formed JSON each colon outside of strings is one member. `JSON.parse` keeps only the last of
  // repeated members, so a difference in number shows a repetition.
  const written = text.replace(strings, '').split(':').length - 1;
  if (countMembers(value) !== written) throw new JsonError('A member name is given twice.');
  return value;
}

const nameOrBracket = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g;

/**
 * Lists the names of the members of the outermost object in well-formed JSON. A repeated name is listed as
 * often as it occurs.
 */
function memberNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [token, string, colon] of text.matchAll(nameOrBracket)) {
    if (string === undefined) depth += token === '{' || token === '[' ? 1 : -1;
    else if (depth === 1 && colon !== undefined) names.push(JSON.parse(string));
  }
  return names;
}

/**
 * Parses JSON of which only the named members of the outermost object are used. Refuses a named member that
 * occurs twice, or is a string with U+0000 or a lone surrogate. Other members may be anything.
 * @throws JsonError, whose message may be shown to the sender
 */
export function parseJsonMembers(text: string, names: ReadonlySet<string>): unknown {
  const value = parsed(text);
  const seen = new Set<string>();
  for (const name of memberNames(text).filter((written) => names.has(written))) {
    if (seen.has(name)) throw new JsonError(`The member ${name} is given twice.`);
    seen.add(name);
    const member: unknown = Object(value)[name];
    if (typeof member === 'string') refuseUnstorable(member);
  }
  return value;
}
