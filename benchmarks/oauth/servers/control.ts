import { createServer, type RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { ClientCredentials } from '../fixture.ts';

/** What the benchmark may ask a provider for, beside the load. */
export interface Provisioning {
  /** Registers the client and whatever else codes need. Not part of the start. */
  prepare(): Promise<ClientCredentials>;
  /** Codes that can be exchanged, stored as an authorization would have stored them. */
  mint(count: number): Promise<string[]>;
}

/** A message to a server process. */
export type Command =
  | { readonly prepare: true }
  | { readonly mint: number }
  | { readonly memory: true }
  | { readonly stop: true };

/** What a server process says: that it listens, or the answer to the one command under way. */
export type Message = { readonly listening: true } | { readonly answer: unknown };

/** Parameters of this process, given by the benchmark as JSON. */
export function settings<Settings>(): Settings {
  return JSON.parse(process.argv[2] ?? '{}') as Settings;
}

const settleMs = 500;

/** Bytes of resident memory a moment after the last request, as the operating system counts them; no collection is forced. */
async function settledMemory(): Promise<number> {
  await setTimeout(settleMs);
  return process.memoryUsage.rss();
}

async function answerTo(command: Command, provisioning: Provisioning | null): Promise<unknown> {
  if ('memory' in command) return settledMemory();
  if (provisioning === null) throw new Error('this server provisions nothing');
  if ('prepare' in command) return provisioning.prepare();
  if ('mint' in command) return provisioning.mint(command.mint);
  throw new Error('unknown command');
}

/** Listens, tells the benchmark, and obeys it until it goes away. */
export function serve(handler: RequestListener, port: number, provisioning: Provisioning | null): void {
  const tell = (message: Message) => process.send?.(message);
  process.on('message', (command: Command) => {
    // An orderly exit, so that a profile is written.
    if ('stop' in command) process.exit(0);
    void answerTo(command, provisioning).then((answer) => tell({ answer }));
  });
  process.on('disconnect', () => process.exit(0));
  createServer(handler).listen(port, '127.0.0.1', () => tell({ listening: true }));
}
