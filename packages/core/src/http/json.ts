/** Deeper JSON is refused before anything else walks it. */
const maxDepth = 32;

export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** Checks whether a text contains U+0000 or half of a surrogate pair, which not every database can store. */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function refuseUnstorable(text: string): void {
  if (isUnstorable(text)) throw new JsonError('A string holds U+0000 or a lone surrogate.');
}

/** Refuses what databases and programs stumble over. Answers how many members the objects of a value have. */
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
 * Parses JSON more strictly than `JSON.parse`: no member twice, no `__proto__`, no deep nesting, no U+0000,
 * no lone surrogates.
 * @throws JsonError with a message that may be shown to the sender
 */
export function parseJson(text: string): unknown {
  const value = parsed(text);
  // In well-formed JSON each colon outside of strings is one member; the parser keeps the last one of a name.
  const written = text.replace(strings, '').split(':').length - 1;
  if (countMembers(value) !== written) throw new JsonError('A member name is given twice.');
  return value;
}

const nameOrBracket = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g;

/** Names of the members of the outermost object of well-formed JSON, as often as they are written. */
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
 * Parses JSON of which only some members of the outermost object are read. Refuses one of these that comes twice, or
 * holds U+0000 or a lone surrogate; other members may be anything.
 * @throws JsonError with a message that may be shown to the sender
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
