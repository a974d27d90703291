import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../examples/reference-server/src/main.ts', import.meta.url));

/** What a busy machine may take over a start. */
const startMs = 60_000;

/** The reference server in a process of its own, as it is deployed: stopped with SIGTERM, started again, also otherwise. */
export class ReferenceProcess {
  readonly name: string;
  readonly origin: string;
  readonly #port: number;
  #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #said = '';

  constructor(name: string, port: number, env: Readonly<Record<string, string>>) {
    this.name = name;
    this.origin = `http://127.0.0.1:${port}`;
    this.#port = port;
    this.#env = env;
  }

  /** Resolves when it is ready. @throws Error when it ends instead */
  async start(): Promise<void> {
    const child = spawn(process.execPath, ['--max-semi-space-size=8', '--conditions=source', script], {
      env: {
        ...this.#env,
        PORT: String(this.#port),
        ...(process.env.PATH !== undefined && { PATH: process.env.PATH }),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    this.#said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
    const deadline = performance.now() + startMs;
    while (!(await isReady(this.origin))) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${this.name} ended: ${this.#said.trim()}`);
      if (performance.now() > deadline) throw new Error(`${this.name} is not ready: ${this.#said.trim()}`);
      await delay(50);
    }
  }

  /** Ends it as whoever runs it does. @returns its exit code, or the signal that ended it */
  async stop(): Promise<number | string> {
    const child = this.#child;
    if (child === null) return 0;
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    }
    return child.exitCode ?? child.signalCode ?? 0;
  }

  /** Stops it and starts it again, with other settings if there are some. @returns its exit code in between */
  async restart(changes: Readonly<Record<string, string>> = {}): Promise<number | string> {
    const code = await this.stop();
    this.#env = { ...this.#env, ...changes };
    await this.start();
    return code;
  }
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
