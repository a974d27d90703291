/**
 * Runs command lines of the reference server, one after the other in this one process: a process for each would take most
 * of its time to start. Reads `[{ file, args }]` from standard input, and writes what became of each.
 */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

interface Run {
  readonly file: string;
  readonly args: readonly string[];
  /** Where there is no database; `move` wants to be told one. */
  readonly databaseUrl: string;
}

const runs: readonly Run[] = JSON.parse(await text(process.stdin));
const write = process.stdout.write.bind(process.stdout);
const results: { readonly code: number; readonly output: string }[] = [];

/** What was said last. `<client id>` and `<key id>` mean what an earlier command made. */
function given(word: string): string {
  const said = results.map(({ output }) => output).join('\n');
  const made = { '<client id>': /\bsvc_client_\w+/g, '<key id>': /\bkey_\w+/g };
  const [placeholder = '', format] = Object.entries(made).find(([name]) => word.includes(name)) ?? [];
  return format === undefined ? word : word.replace(placeholder, said.match(format)?.at(-1) ?? placeholder);
}

for (const [number, { file, args, databaseUrl }] of runs.entries()) {
  process.env.DATABASE_URL = databaseUrl;
  let output = '';
  const keep = (chunk: unknown): boolean => {
    output += String(chunk);
    return true;
  };
  process.stdout.write = keep;
  process.stderr.write = keep;
  Object.defineProperty(process, 'stdin', {
    value: Readable.from(['a password of the tests\n']),
    configurable: true,
  });
  process.argv = [process.execPath, file, ...args.map(given)];
  process.exitCode = 0;
  // The program runs whenever its own file is loaded; what it imports is loaded once.
  await import(`${pathToFileURL(file).href}?run=${number}`).catch((error: unknown) => {
    process.exitCode = 3;
    keep(error);
  });
  // A module that is no program (any more) runs without a word.
  results.push(
    output === '' ? { code: 3, output: 'says nothing' } : { code: Number(process.exitCode), output },
  );
}
process.stdout.write = write;
process.exitCode = 0;
write(JSON.stringify(results));
