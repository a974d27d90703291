import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Command, Message } from './control.ts';

/** One server in a process of its own. */
export class ServerProcess {
  readonly port: number;
  readonly #file: string;
  readonly #child: ChildProcess;
  #stopping = false;

  private constructor(file: string, port: number, child: ChildProcess) {
    this.#file = file;
    this.port = port;
    this.#child = child;
  }

  /**
   * Starts a built server and resolves when it is ready.
   * @param file - the path of what was built
   * @param flags - options of Node for this process
   */
  static async start<Settings extends { readonly port: number }>(
    file: string,
    settings: Settings,
    flags: readonly string[],
  ): Promise<ServerProcess> {
    const { NODE_OPTIONS: _, ...environment } = process.env;
    const child = fork(file, [JSON.stringify(settings)], {
      // Not the conditions of this process: packages resolve to what was built.
      execArgv: [...flags],
      env: { ...environment, NODE_ENV: 'production' },
    });
    const server = new ServerProcess(file, settings.port, child);
    const message = await server.#next();
    if (!('ready' in message)) throw new Error(`${file} answered before it was ready`);
    return server;
  }

  /** Sends a command and resolves with its answer. One at a time. */
  async ask<Answer>(name: string, argument: unknown = null): Promise<Answer> {
    const next = this.#next();
    this.#child.send({ name, argument } satisfies Command);
    const message = await next;
    if (!('answer' in message)) throw new Error(`${this.#file} did not answer`);
    return message.answer as Answer;
  }

  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const exit = once(this.#child, 'exit');
    this.#child.send({ stop: true } satisfies Command);
    await exit;
  }

  #next(): Promise<Message> {
    return new Promise((resolve, reject) => {
      const onMessage = (message: unknown) => {
        this.#child.off('exit', onExit);
        resolve(message as Message);
      };
      const onExit = (code: number | null) => {
        this.#child.off('message', onMessage);
        if (!this.#stopping) reject(new Error(`${this.#file} ended with ${code}`));
      };
      this.#child.once('message', onMessage).once('exit', onExit);
    });
  }
}
