import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

const source = join(import.meta.dirname, '../../src');

/** A running program in a separate process. */
export interface Program {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: () => string;
  readonly errors: () => string;
  readonly ended: Promise<number | null>;
  /** Resolves when the program's output contains the text; rejects if the program ends before. */
  until(text: string): Promise<void>;
}

export function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Program {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['--conditions=ostiary-source', resolve(source, file), ...args], {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  });
  const written = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      for (const listener of listeners) listener();
    });
  }
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    output: () => written.stdout,
    errors: () => written.stderr,
    ended,
    until: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (!written.stdout.includes(text)) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
        void ended.then((code) => reject(new Error(`ended with ${code}: ${written.stderr}`)));
      }),
  };
}
