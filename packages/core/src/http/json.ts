/** Deeper JSON is refused before anything walks it. */
const maxDepth = 32;

/** Why a JSON text was refused. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** What the scan knows of one open object or array. */
interface Level {
  readonly names: Set<string> | null;
  expectsName: boolean;
}

const escapedSurrogate = /\\u[dD][89a-fA-F]/;

/** Whether an odd number of backslashes stands before a place. */
function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

/** Where a string that begins at `start` ends, in JSON that is known to be well-formed. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function refuseSecretTraps(text: string): void {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    const level = levels.at(-1);
    if (character === '"') {
      const start = at;
      at = endOfString(text, start);
      if (level?.names && level.expectsName) {
        const written = text.slice(start + 1, at);
        const name: unknown = written.includes('\\') ? JSON.parse(`"${written}"`) : written;
        if (typeof name !== 'string' || name === '__proto__')
          throw new JsonError('The member name __proto__ is not allowed.');
        if (level.names.has(name)) throw new JsonError('A member name is given twice.');
        level.names.add(name);
        level.expectsName = false;
      }
    } else if (character === '{' || character === '[') {
      if (levels.length >= maxDepth) throw new JsonError(`JSON may be nested ${maxDepth} deep at most.`);
      levels.push({ names: character === '{' ? new Set() : null, expectsName: character === '{' });
    } else if (character === '}' || character === ']') {
      levels.pop();
    } else if (character === ',' && level?.names) {
      level.expectsName = true;
    }
  }
}

/** Whether a text holds U+0000 or half of a surrogate pair, which not every database can store. */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (isUnstorable(value)) throw new JsonError('A string holds U+0000 or a lone surrogate.');
  } else if (Array.isArray(value)) {
    for (const item of value) refuseUnstorable(item);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      refuseUnstorable(name);
      refuseUnstorable(member);
    }
  }
}

/**
 * Parses JSON more strictly than `JSON.parse`: no member twice, no `__proto__`, no deep nesting, no U+0000,
 * no lone surrogates.
 * @throws JsonError with a message that may be shown to the sender
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    // The scan trusts the grammar, so that the parser has to have its say first; it survives deep nesting.
    value = JSON.parse(text);
  } catch {
    throw new JsonError('The body is not valid JSON.');
  }
  refuseSecretTraps(text);
  if (text.includes('\\u0000') || escapedSurrogate.test(text)) refuseUnstorable(value);
  return value;
}
