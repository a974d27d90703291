import { type Forked, forked } from './forked.ts';

/** Longer than the lease of a job or a delivery. */
const clockStepMs = 31_000;

/** The one process of a proof: killed and started again on the same file, each time with a later clock. */
export class KilledProcess {
  readonly #script: URL;
  readonly #settings: { readonly [name: string]: string };
  #starts = 0;
  #process: Forked;

  /**
   * @param script - its source; it sends its address to its parent once it listens
   * @param settings - its environment, besides `CLOCK_OFFSET_MS`
   */
  constructor(script: URL, settings: { readonly [name: string]: string }) {
    this.#script = script;
    this.#settings = settings;
    this.#process = this.#start();
  }

  /** Where it listens, once it does. */
  get origin(): Promise<string> {
    return this.#process.origin;
  }

  /** Kills the process without a warning and starts the next one. Resolves when that listens. */
  async kill(): Promise<void> {
    await this.origin;
    await this.#process.kill();
    this.#process = this.#start();
    await this.origin;
  }

  /** Kills it for good. */
  async stop(): Promise<void> {
    await this.origin.catch(() => undefined);
    await this.#process.kill();
  }

  #start(): Forked {
    const offset = this.#starts * clockStepMs;
    this.#starts += 1;
    return forked(this.#script, { ...this.#settings, CLOCK_OFFSET_MS: String(offset) });
  }
}
