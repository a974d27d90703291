import { type ServerProcess, serverProcess } from '../../../examples/demo/src/cluster/server-process.ts';

/** The reference server in a process of its own, as it is deployed: stopped with SIGTERM, started again, also otherwise. */
export class ReferenceProcess {
  readonly name: string;
  readonly origin: string;
  readonly #port: number;
  #env: Readonly<Record<string, string>>;
  #process: ServerProcess;

  constructor(name: string, port: number, env: Readonly<Record<string, string>>) {
    this.name = name;
    this.#port = port;
    this.#env = env;
    this.#process = serverProcess(name, port, env);
    this.origin = this.#process.origin;
  }

  /** Resolves when it is ready. @throws Error when it ends instead */
  start(): Promise<void> {
    return this.#process.start();
  }

  /** Ends it as whoever runs it does. @returns its exit code, or `null` where a signal ended it */
  stop(): Promise<number | null> {
    return this.#process.stop();
  }

  /** Stops it and starts it again, with other settings if there are some. @returns its exit code in between */
  async restart(changes: Readonly<Record<string, string>> = {}): Promise<number | null> {
    const code = await this.stop();
    this.#env = { ...this.#env, ...changes };
    this.#process = serverProcess(this.name, this.#port, this.#env);
    await this.start();
    return code;
  }
}
