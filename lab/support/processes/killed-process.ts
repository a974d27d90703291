import { insist } from '../insist.ts';
import { type Forked, forked } from './forked.ts';

/** A process that is killed and started again. */
export class KilledProcess {
  /** How it ended, where it did by itself. */
  failure: string | null = null;
  readonly #name: string;
  readonly #start: () => Forked;
  #process: Forked | null = null;
  /** Those that did not end by themselves. */
  readonly #killed = new WeakSet<Forked>();
  #started: Promise<void>;
  #origin = '';

  /**
   * @param name - for messages
   * @param script - its source; it sends its address to its parent once it listens
   * @param env - its environment, from how often it was started before
   */
  constructor(name: string, script: URL, env: (starts: number) => Readonly<Record<string, string>>) {
    let starts = 0;
    this.#name = name;
    this.#start = () => forked(script, env(starts++));
    this.#started = this.#begin();
  }

  /** Resolves when it is up. */
  get started(): Promise<void> {
    return this.#started;
  }

  /** Where it is, or was before it was killed: a client does not know either. */
  get origin(): string {
    return this.#origin;
  }

  /** Kills it without a warning and starts the next one. Resolves when that is up. */
  async kill(): Promise<void> {
    await this.#started;
    await this.#end();
    this.#started = this.#begin();
    await this.#started;
  }

  /** Kills it for good. */
  async stop(): Promise<void> {
    await this.#started.catch(() => undefined);
    await this.#end();
  }

  /** Sends it an order. @returns its answer */
  async tell(order: string): Promise<unknown> {
    await this.#started;
    const child = this.#process?.child;
    if (child === undefined) throw new Error(`${this.#name} is gone`);
    const answered = new Promise<unknown>((resolve) => {
      const listen = (message: { readonly order?: string; readonly answer?: unknown }) => {
        if (message.order !== order) return;
        child.off('message', listen);
        resolve(message.answer);
      };
      child.on('message', listen);
    });
    child.send(order);
    return answered;
  }

  /** As whoever runs processes does: one that could not start is started again. */
  #begin(): Promise<void> {
    return insist(async () => {
      const process = this.#start();
      this.#process = process;
      this.#origin = await process.origin;
      void process.ended.then((end) => {
        if (!this.#killed.has(process)) this.failure = `${this.#name} ended with ${end}`;
      });
    });
  }

  async #end(): Promise<void> {
    const process = this.#process;
    if (process === null) return;
    this.#killed.add(process);
    await process.kill();
  }
}
