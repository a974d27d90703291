/** A planted fault (mutation): a source file in which one clause of one SQL statement is changed. */
export interface Fault {
  readonly line: number;
  /** The SQL clause before and after the change. */
  readonly change: string;
  /** The whole source file, with the planted fault. */
  readonly mutated: string;
}

/** Matches text of SQL in a TypeScript file: literals that contain a keyword of SQL. */
const literals = /`[^`]*`|'[^'\n]*'/g;
const keyword = /\b(?:SELECT|UPDATE|DELETE|INSERT|WHERE|AND|ORDER BY)\b/;

/** Common mistakes in SQL. A pattern is replaced in every place where it is found, one place at a time. */
const mistakes: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <> /g, ' = '],
  [/ IS NOT NULL\b/g, ' IS NULL'],
  [/ IS NULL\b/g, ' IS NOT NULL'],
  [/ DESC\b/g, ' ASC'],
  [/(ORDER BY [^,\n`']+), \w+(?: DESC)?(?=\n|`|'| LIMIT)/g, '$1'],
  [/\bAND \w+ (?:=|<>) [+:$]?[\w:']+(?= |\n|`|\))/g, ''],
  [/\bAND \w+ = \?/g, 'AND ? IS NOT NULL'],
  [/(WHERE )\w+ = [+:$]?[\w:']+ AND /g, '$1'],
  [/\bcoalesce\([^,()]+, ([^()]+)\)/g, '$1'],
  [/\bmin\(/g, 'max('],
  [/\bmax\(/g, 'min('],
  [/ \+ 1\b/g, ''],
  [/ LIMIT [+:$]\w+/g, ''],
  [/ FOR (?:NO KEY )?UPDATE\b/g, ''],
  [/ SKIP LOCKED\b/g, ''],
];

/** Lists every place of a source file in which one of the SQL mistakes can be planted. */
export function faultsIn(path: string, source: string): Fault[] {
  const statements = path.endsWith('.sql')
    ? [{ start: 0, text: source }]
    : Array.from(source.matchAll(literals), ({ 0: text, index }) => ({ start: index, text }));
  return statements
    .filter(({ text }) => keyword.test(text))
    .flatMap(({ start, text }) => mistakes.flatMap((mistake) => faultsOf(source, start, text, mistake)));
}

function faultsOf(
  source: string,
  start: number,
  text: string,
  [pattern, replacement]: (typeof mistakes)[number],
): Fault[] {
  return Array.from(text.matchAll(pattern)).flatMap(({ 0: found, index }) => {
    const at = start + index;
    const before = source.slice(0, at);
    const isComment = /--|^\s*(?:\/\/|\*)/.test(before.slice(before.lastIndexOf('\n') + 1));
    if (isComment) return [];
    // The pattern may include text after the clause, so replace within the rest of the statement.
    const after = text.slice(index).replace(new RegExp(pattern.source), replacement);
    const changed = after.slice(0, after.length - (text.length - index - found.length));
    return {
      line: before.split('\n').length,
      change: `${found.trim()} → ${changed.trim() || 'nothing'}`,
      mutated: before + changed + source.slice(at + found.length),
    };
  });
}
