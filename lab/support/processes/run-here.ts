import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/** Output of a program that has ended. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

let runs = 0;

/** Error that `process.exit` throws while a program runs in this process. */
class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/**
 * Runs a program that ends by itself or with `process.exit`. The program runs in this process, because a new
 * process would take most of the time, and gets only the given arguments, environment and standard input. One
 * program runs at a time.
 */
export async function runHere(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<Ended> {
  const written = { stdout: '', stderr: '' };
  const before = { argv: process.argv, env: process.env, stdin: process.stdin, umask: process.umask() };
  const { exit } = process;
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: unknown) => {
      written[name] += String(chunk);
      return true;
    };
  }
  process.argv = [process.execPath, file, ...args];
  process.env = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  process.exitCode = 0;
  process.exit = (code) => {
    throw new Exit(Number(code ?? 0));
  };
  runs += 1;
  try {
    // The query makes Node load the program's file anew for each run. Its imports are loaded once.
    await import(/* @vite-ignore */ `${pathToFileURL(file).href}?run=${runs}`);
    return { code: Number(process.exitCode), output: written.stdout, errors: written.stderr };
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return { code: error.code, output: written.stdout, errors: written.stderr };
  } finally {
    process.exitCode = undefined;
    process.exit = exit;
    Object.defineProperty(process, 'stdin', { value: before.stdin, configurable: true });
    process.umask(before.umask);
    Object.assign(process, { argv: before.argv, env: before.env });
    Object.assign(process.stdout, { write: writes.stdout });
    Object.assign(process.stderr, { write: writes.stderr });
  }
}
