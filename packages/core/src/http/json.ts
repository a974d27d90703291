/** Deeper JSON is refused before anything else walks it. */
const maxDepth = 32;

export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** Whether a text holds U+0000 or half of a surrogate pair, which not every database can store. */
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

/**
 * Parses JSON more strictly than `JSON.parse`: no member twice, no `__proto__`, no deep nesting, no U+0000,
 * no lone surrogates.
 * @throws JsonError with a message that may be shown to the sender
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonError('The body is not valid JSON.');
  }
  // In well-formed JSON each colon outside of strings is one member; the parser keeps the last one of a name.
  const written = text.replace(strings, '').split(':').length - 1;
  if (countMembers(value) !== written) throw new JsonError('A member name is given twice.');
  return value;
}
