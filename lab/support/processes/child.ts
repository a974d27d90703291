import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Command, Message } from './control.ts';

/**
 * Options of Node with which a child process starts from its source. The two options for memory are those of
 * `deploy/Dockerfile`; `--expose-gc` helps to distinguish live objects from uncollected ones.
 */
const sourceFlags = [
  '--conditions=ostiary-source',
  '--max-semi-space-size=8',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
];

/** Options for starting a program in a child process. */
interface ChildOptions {
  /** Node options of the child process. @defaultValue the options of a program that runs from its source */
  readonly flags?: readonly string[];
  /** Additional environment variables of the child process, besides the path and Node's compile cache. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program of the lab in a child process, which obeys the messages of `control.ts`. */
export class Child {
  /** Resolves when the program in the child process is ready. Rejects if the program ends before. */
  readonly ready: Promise<void>;
  /** Resolves with the exit code or signal when the program in the child process has ended. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /**
   * Origin on which the program listens, known once the program is ready; '' if the program does not listen.
   */
  origin = '';
  readonly #child: ChildProcess;
  readonly #read: Promise<unknown>;
  readonly #answers = new Map<number, (answer: unknown) => void>();
  #asked = 0;
  #output = '';

  /**
   * @param script - path of the program, as source or built
   * @param settings - parameters that the program reads with `settings()`
   */
  constructor(script: URL | string, settings: object, { flags = sourceFlags, env = {} }: ChildOptions = {}) {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    this.#child = fork(script, [JSON.stringify(settings)], {
      execArgv: [...flags],
      env: { PATH, NODE_COMPILE_CACHE, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const streams = [this.#child.stdout, this.#child.stderr].filter((stream) => stream !== null);
    for (const stream of streams) {
      stream.setEncoding('latin1').on('data', (text: string) => {
        this.#output += text;
      });
    }
    // Listen to the streams, because the child's `close` event does not follow `disconnect` here.
    this.#read = Promise.all(streams.map((stream) => once(stream, 'close')));
    this.ended = once(this.#child, 'exit').then(([code, signal]) => code ?? signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#child.on('message', (message: Message) => {
      if ('answer' in message) return this.#answers.get(message.to)?.(message.answer);
      this.origin = message.origin;
      resolve();
    });
    this.ready = this.#unlessEnded(promise);
    // Handle the rejection, because a caller may only wait for the end.
    this.ready.catch(() => undefined);
  }

  /** Port of the program's {@link origin}. */
  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Sends a command to the child process. @throws Error if the process ends before its response */
  async ask<Answer>(name: string, argument: unknown = null): Promise<Answer> {
    this.#asked += 1;
    const to = this.#asked;
    const answer = new Promise((resolve) => this.#answers.set(to, resolve));
    this.#child.send({ to, name, argument } satisfies Command);
    try {
      return (await this.#unlessEnded(answer)) as Answer;
    } finally {
      this.#answers.delete(to);
    }
  }

  /** Returns the output of the child process so far, byte for byte. */
  printed(): string {
    return this.#output;
  }

  /** Kills the child process (`kill -9`), if it still runs. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /**
   * Disconnects from the child process, which then ends gracefully. Resolves when all output of the process
   * is read.
   */
  async stop(): Promise<number | NodeJS.Signals> {
    if (this.#child.connected) this.#child.disconnect();
    const [end] = await Promise.all([this.ended, this.#read]);
    return end;
  }

  #unlessEnded<Value>(promise: Promise<Value>): Promise<Value> {
    const over = this.ended.then((end) => {
      throw new Error(`the process ended with ${end}: ${this.#output}`);
    });
    return Promise.race([promise, over]);
  }
}
