/** A command of a code block, such as `A=b npm run ostiary -- users list`. */
export interface ShellCommand {
  readonly line: string;
  /** Variables that are set for the command, or exported before it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly words: readonly string[];
}

/** Splits a line into words as a shell does. Variables and `<placeholders>` stay unchanged. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  let [word, quote]: [string | null, string | null] = [null, null];
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at] ?? '';
    if (quote !== null) {
      if (sign === quote) quote = null;
      else word = `${word ?? ''}${sign}`;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= '';
    } else if (sign === '#' && word === null) {
      break;
    } else if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      const whole = /^(?:<[^<>]*>|\$\((?:[^()]|\([^()]*\))*\))/.exec(line.slice(at))?.[0] ?? sign;
      word = `${word ?? ''}${whole}`;
      at += whole.length - 1;
    }
  }
  if (quote !== null) throw new Error(`a quotation mark is not closed: ${line}`);
  if (word !== null) words.push(word);
  return words;
}

/** Returns the commands of a code block, one per line unless a backslash continues the line. */
export function commandsOf(block: string): ShellCommand[] {
  return block
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => ({ line: line.trim(), words: wordsOf(line) }))
    .filter(({ words }) => words.length > 0)
    .map(({ line, words: [first = '', ...rest] }) => {
      const words = first === 'export' ? rest : [first, ...rest];
      const variables: Record<string, string> = {};
      for (let word = words[0]; word !== undefined; word = words[0]) {
        const [, name, value = ''] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(word) ?? [];
        if (name === undefined) break;
        variables[name] = value;
        words.shift();
      }
      return { line, variables, words };
    });
}
