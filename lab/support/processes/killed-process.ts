import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Longer than the lease of a job or a delivery. */
const clockStepMs = 31_000;

/** The one process of a proof: killed and started again on the same file, each time with a later clock. */
export class KilledProcess {
  readonly #script: string;
  readonly #settings: { readonly [name: string]: string };
  #child: ChildProcess | null = null;
  #starts = 0;
  #origin: Promise<string>;

  /**
   * @param script - its source; it sends its address to its parent once it listens
   * @param settings - its environment, besides `CLOCK_OFFSET_MS`
   */
  constructor(script: string, settings: { readonly [name: string]: string }) {
    this.#script = script;
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
    const child = fork(this.#script, {
      execArgv: ['--conditions=source'],
      env: {
        PATH: process.env.PATH,
        ...this.#settings,
        CLOCK_OFFSET_MS: String(this.#starts * clockStepMs),
      },
    });
    this.#child = child;
    this.#starts += 1;
    return Promise.race([
      once(child, 'message').then(([origin]) => String(origin)),
      once(child, 'exit').then(([code, signal]) => {
        throw new Error(`the process ended with ${code ?? signal}`);
      }),
    ]);
  }
}
