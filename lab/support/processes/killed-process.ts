import { retry } from '../retry.ts';
import { Child } from './child.ts';

/** A process that the test kills and restarts. */
export class KilledProcess {
  /** Name of the process for messages. */
  readonly name: string;
  /** Reason why the process ended if it ended by itself; otherwise `null`. */
  failure: string | null = null;
  /** Current or last origin of the process. A client cannot know whether the process still runs. */
  origin = '';
  /** Resolves when the process is ready for requests. */
  started: Promise<void>;
  readonly #start: () => Child;
  #process: Child | null = null;
  readonly #killed = new WeakSet<Child>();

  /**
   * @param script - path of the program
   * @param settings - returns the program's parameters for the number of earlier starts
   */
  constructor(name: string, script: URL, settings: (starts: number) => object) {
    let starts = 0;
    this.name = name;
    this.#start = () => new Child(script, settings(starts++));
    this.started = this.#begin();
  }

  /**
   * Kills the process without warning, and starts the next process. Resolves once the next process is ready.
   */
  async kill(): Promise<void> {
    await this.stop();
    this.started = this.#begin();
    await this.started;
  }

  /** Kills the process permanently, without a restart. */
  async stop(): Promise<void> {
    await this.started.catch(() => undefined);
    if (this.#process === null) return;
    this.#killed.add(this.#process);
    await this.#process.kill();
  }

  async ask<Answer>(name: string): Promise<Answer> {
    await this.started;
    if (this.#process === null) throw new Error(`${this.name} is gone`);
    return this.#process.ask<Answer>(name);
  }

  /** Starts the process, and tries again if the start fails, as supervisors of processes do. */
  #begin(): Promise<void> {
    return retry(async () => {
      const process = this.#start();
      this.#process = process;
      await process.ready;
      this.origin = process.origin;
      void process.ended.then((end) => {
        if (!this.#killed.has(process)) this.failure = `${this.name} ended with ${end}`;
      });
    });
  }
}
