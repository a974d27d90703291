import { createServer, type RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** A message to a server process: the name of a command with what it needs, or `stop`. */
export type Command = { readonly name: string; readonly argument: unknown } | { readonly stop: true };

/** What a process says: that it is ready, or the answer to the one command under way. */
export type Message = { readonly ready: true } | { readonly answer: unknown };

/** What the benchmark may ask a server for, beside the load. */
export interface Commands {
  readonly [name: string]: (argument: never) => unknown;
}

/** Parameters of this process, given by the benchmark as JSON. */
export function settings<Settings>(): Settings {
  return JSON.parse(process.argv[2] ?? '{}') as Settings;
}

const settleMs = 500;

const ownCommands: Commands = {
  /** Bytes of resident memory a moment after the last request, as the operating system counts them; no collection is forced. */
  async memory() {
    await setTimeout(settleMs);
    return process.memoryUsage.rss();
  },
};

/** Obeys the benchmark until it goes away. */
export function obey(commands: Commands): void {
  const tell = (message: Message) => process.send?.(message);
  const known = { ...ownCommands, ...commands };
  process.on('message', async (command: Command) => {
    // An orderly exit, so that a profile is written.
    if ('stop' in command) process.exit(0);
    const run = known[command.name];
    if (run === undefined) throw new Error(`this server knows no ${command.name}`);
    // JSON has no `undefined`.
    tell({ answer: (await run(command.argument as never)) ?? null });
  });
  process.on('disconnect', () => process.exit(0));
  tell({ ready: true });
}

/** Listens, and obeys the benchmark. */
export function serve(handler: RequestListener, port: number, commands: Commands = {}): void {
  createServer(handler).listen(port, '127.0.0.1', () => obey(commands));
}
