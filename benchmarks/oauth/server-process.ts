import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { BareSettings } from './servers/bare.ts';
import type { Command, Message } from './servers/control.ts';
import type { OstiarySettings } from './servers/ostiary.ts';
import type { RawSettings } from './servers/raw.ts';

/** The servers, each with what it has to be told. */
export interface Servers {
  readonly bare: BareSettings;
  readonly ostiary: OstiarySettings;
  readonly raw: RawSettings;
}

/** A port of the loopback address that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** One server in a process of its own. */
export class ServerProcess {
  readonly port: number;
  readonly #name: string;
  readonly #child: ChildProcess;
  #stopping = false;

  private constructor(name: string, port: number, child: ChildProcess) {
    this.#name = name;
    this.port = port;
    this.#child = child;
  }

  /**
   * Starts a built server and resolves when it listens.
   * @param flags - options of Node for this process
   */
  static async start<Name extends keyof Servers>(
    name: Name,
    settings: Servers[Name],
    flags: readonly string[],
  ): Promise<ServerProcess> {
    const { NODE_OPTIONS: _, ...environment } = process.env;
    const file = fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url));
    const child = fork(file, [JSON.stringify(settings)], {
      // Not the conditions of this process: packages resolve to what was built.
      execArgv: [...flags],
      env: { ...environment, NODE_ENV: 'production' },
    });
    const server = new ServerProcess(name, settings.port, child);
    const message = await server.#next();
    if (!('listening' in message)) throw new Error(`${name} answered before it listened`);
    return server;
  }

  /** Sends a command and resolves with its answer. One at a time. */
  async ask<Answer>(command: Command): Promise<Answer> {
    const next = this.#next();
    this.#child.send(command);
    const message = await next;
    if (!('answer' in message)) throw new Error(`${this.#name} did not answer`);
    return message.answer as Answer;
  }

  async stop(): Promise<void> {
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
        if (!this.#stopping) reject(new Error(`${this.#name} ended with ${code}`));
      };
      this.#child.once('message', onMessage).once('exit', onExit);
    });
  }
}
