import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { StepFailed } from '../walkthrough/report.ts';
import { waitUntil } from './wait.ts';

/** A reference server in a process of its own, that can be killed and started again. */
export interface ServerProcess {
  readonly name: string;
  /** Where this one process is reached, whatever stands in front of it. */
  readonly origin: string;
  start(): Promise<void>;
  /** `kill -9`: it gets no chance to tidy up. */
  kill(): Promise<void>;
  /** SIGTERM. @returns its exit code */
  stop(): Promise<number | null>;
}

const reference = new URL(import.meta.resolve('@ostiary/reference-server'));

/** A program of the reference server's package. */
export function programOf(file: string): string {
  return fileURLToPath(new URL(file, reference));
}

/** What a child sees of this process: how programs are found, and nothing that could be a setting. */
export function childEnvironment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return {
    ...env,
    NODE_ENV: 'development',
    ...(process.env.PATH !== undefined && { PATH: process.env.PATH }),
  };
}

/** Whether a process wants requests. */
export async function isReady(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

export function serverProcess(
  name: string,
  port: number,
  env: Readonly<Record<string, string>>,
): ServerProcess {
  const origin = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let ended: Promise<number | null> = Promise.resolve(null);

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    child?.kill(signal);
    return ended;
  }

  return {
    name,
    origin,
    async start() {
      const started = spawn(process.execPath, ['--conditions=source', programOf('./main.ts')], {
        env: childEnvironment({ ...env, PORT: String(port) }),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child = started;
      let said = '';
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      let isOver = false;
      ended = new Promise((resolve) =>
        started.once('close', (code) => {
          isOver = true;
          resolve(code);
        }),
      );
      await waitUntil(
        `${name} is ready`,
        () => {
          if (isOver) throw new StepFailed(`${name} ended: ${said.trim()}`);
          return isReady(origin);
        },
        { withinMs: 60_000 },
      );
    },
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}
