import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installBuilt } from '../../../../lab/support/packages/install-built.ts';

const example = resolve(import.meta.dirname, '../..');
const nextBin = join(example, 'node_modules/next/dist/bin/next');

/** Time limit for the start of the server on a busy machine, in milliseconds. */
const startMs = 50_000;

/** A Next.js application that was built for production. */
export interface NextProject {
  /**
   * Starts the built Next.js application. Resolves once the application responds, with a function that stops
   * the application.
   */
  start(port: number, env: Record<string, string>): Promise<() => Promise<void>>;
  remove(): void;
}

function next(folder: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [nextBin, ...args], {
    cwd: join(folder, 'next'),
    env: {
      ...{ PATH, HOME, NODE_COMPILE_CACHE },
      ...{ NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', CI: '1', ...env },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function outputOf({ stdout, stderr }: ChildProcess): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
  }
  return () => text;
}

/** Builds the Next.js example in a copy, because Next.js writes into its project's folder. */
export async function buildNextProject(): Promise<NextProject> {
  const folder = join(example, `.data/next-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(example, 'src'), folder, { recursive: true });
  for (const name of ['core', 'adapter-sqlite']) await installBuilt(name, folder);
  const building = next(folder, ['build']);
  const output = outputOf(building);
  const [code] = await once(building, 'exit');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (code !== 0) {
    remove();
    throw new Error(`next build ended with ${code}: ${output()}`);
  }

  return {
    async start(port, env) {
      const server = next(folder, ['start', '--port', String(port), '--hostname', '127.0.0.1'], env);
      const said = outputOf(server);
      const exit = once(server, 'exit');
      const ended = exit.then(() => {
        const error = new Error(`next start ended: ${said()}`);
        throw said().includes('EADDRINUSE') ? Object.assign(error, { code: 'EADDRINUSE' }) : error;
      });
      const answers = async () => {
        while (server.exitCode === null) {
          const isUp = await fetch(`http://127.0.0.1:${port}/shop`).then(
            (response) => response.ok,
            () => false,
          );
          if (isUp) return;
          await new Promise((resume) => setTimeout(resume, 50));
        }
        await ended;
      };
      // Kill a server that never responds, so that it does not outlive the test.
      const deadline = setTimeout(() => server.kill('SIGKILL'), startMs);
      await Promise.race([answers(), ended]);
      clearTimeout(deadline);
      ended.catch(() => {});
      return async () => {
        server.kill('SIGTERM');
        await exit;
      };
    },
    remove,
  };
}
