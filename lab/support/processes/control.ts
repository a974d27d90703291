import { createServer, type RequestListener } from 'node:http';
import { listen } from '../http.ts';

/** Message to a child process: a command with its arguments. */
export interface Command {
  /** Number of the command, which the response repeats. */
  readonly to: number;
  readonly name: string;
  readonly argument: unknown;
}

/** Message from a child process: its origin once the process is ready, or the response to a command. */
export type Message = { readonly origin: string } | { readonly to: number; readonly answer: unknown };

/** Commands that a child process accepts, by name. */
interface Commands {
  readonly [name: string]: (argument: never) => unknown;
}

/** Returns the parameters of this child process, which its parent has passed as JSON. */
export function settings<Settings>(): Settings {
  return JSON.parse(process.argv[2] ?? '{}') as Settings;
}

/**
 * Returns the resident memory of this process in bytes, as the operating system counts it, without forcing a
 * garbage collection.
 */
export function resident(): number {
  return process.memoryUsage.rss();
}

/** Runs the parent process's commands until the parent disconnects. @param end - called for a graceful end */
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

/**
 * Serves HTTP and runs the parent process's commands. @param port - port to listen on; by default any free
 * port
 */
export async function serve(handler: RequestListener, commands: Commands = {}, port = 0): Promise<void> {
  obey(commands, await listen(createServer(handler), port));
}
