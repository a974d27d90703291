import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./provider-process.ts', import.meta.url));

/** A provider that runs in a process of its own. */
export interface ProviderProcess {
  /** Where it listens; its configured address is another one. */
  readonly origin: string;
  /** Everything that it printed so far. */
  printed(): string;
  /** Ends it and resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts a provider on a SQLite file. Several may share one. */
export async function startProvider(options: {
  readonly authUrl: string;
  readonly file: string;
  readonly sealingKey: string;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<ProviderProcess> {
  const child = fork(script, {
    execArgv: ['--conditions=source'],
    env: {
      PATH: process.env.PATH,
      AUTH_URL: options.authUrl,
      DATABASE_FILE: options.file,
      SEALING_KEY: options.sealingKey,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of streams) {
    stream.setEncoding('latin1').on('data', (text: string) => {
      output += text;
    });
  }
  // Not the event `close` of the child: it does not come after `disconnect` here.
  const read = Promise.all(streams.map((stream) => once(stream, 'close')));
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const origin = await Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    exit.then(([code]) => {
      throw new Error(`the provider ended with ${code}: ${output}`);
    }),
  ]);
  return {
    origin,
    printed: () => output,
    async stop() {
      if (child.connected) child.disconnect();
      const [[code]] = await Promise.all([exit, read]);
      return code;
    },
  };
}
