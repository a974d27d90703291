import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./server.ts', import.meta.url));

/** Longer than the lease of a job. */
const clockStepMs = 31_000;

/** The one server of a proof: killed and started again on the same file, each time with a later clock. */
export class ServerProcess {
  readonly #settings: { readonly file: string; readonly sealingKey: string };
  #child: ChildProcess | null = null;
  #starts = 0;
  #origin: Promise<string>;

  constructor(settings: { readonly file: string; readonly sealingKey: string }) {
    this.#settings = settings;
    this.#origin = this.#start();
  }

  /** Where it listens, once it does. */
  get origin(): Promise<string> {
    return this.#origin;
  }

  /** Kills the process without a warning and starts the next one. Resolves when that listens. */
  async kill(): Promise<void> {
    await this.#origin;
    const child = this.#child;
    if (child === null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    this.#origin = exit.then(() => this.#start());
    await this.#origin;
  }

  /** Kills it for good. */
  async stop(): Promise<void> {
    await this.#origin.catch(() => undefined);
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async #start(): Promise<string> {
    const child = fork(script, {
      execArgv: ['--conditions=source'],
      env: {
        PATH: process.env.PATH,
        DATABASE_FILE: this.#settings.file,
        SEALING_KEY: this.#settings.sealingKey,
        CLOCK_OFFSET_MS: String(this.#starts * clockStepMs),
      },
    });
    this.#child = child;
    this.#starts += 1;
    return Promise.race([
      once(child, 'message').then(([origin]) => String(origin)),
      once(child, 'exit').then(([code, signal]) => {
        throw new Error(`the server ended with ${code ?? signal}`);
      }),
    ]);
  }
}
