import { createServer, type RequestListener } from 'node:http';
import { listen } from '../http.ts';

/** Message to a process: the name of a command with its arguments. */
export interface Command {
  /** Identifies its response. */
  readonly to: number;
  readonly name: string;
  readonly argument: unknown;
}

/** Message of a process: that it is ready, and its address, or a response. */
export type Message = { readonly origin: string } | { readonly to: number; readonly answer: unknown };

/** Commands for a process. */
interface Commands {
  readonly [name: string]: (argument: never) => unknown;
}

/** Parameters of this process, given by its parent as JSON. */
export function settings<Settings>(): Settings {
  return JSON.parse(process.argv[2] ?? '{}') as Settings;
}

/** Returns the bytes of resident memory, as the operating system counts them; no collection is forced. */
export function resident(): number {
  return process.memoryUsage.rss();
}

/** Obeys the parent until it disconnects. @param end - called for a graceful end */
export function obey(commands: Commands, origin = '', end: () => unknown = () => process.exit(0)): void {
  const tell = (message: Message) => process.send?.(message);
  process.on('message', async ({ to, name, argument }: Command) => {
    const run = commands[name];
    if (run === undefined) throw new Error(`this process knows no ${name}`);
    // Send `null`, because JSON has no `undefined`.
    tell({ to, answer: (await run(argument as never)) ?? null });
  });
  process.once('disconnect', end);
  tell({ origin });
}

/** Listens, and obeys the parent. @param port - any free one by default */
export async function serve(handler: RequestListener, commands: Commands = {}, port = 0): Promise<void> {
  obey(commands, await listen(createServer(handler), port));
}
