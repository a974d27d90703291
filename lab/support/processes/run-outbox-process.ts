import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./outbox-process.ts', import.meta.url));

/** Runs a host that publishes, or settles a transfer, until it is killed next to the commit. Answers the signal. */
export async function runOutboxProcess(options: {
  readonly file: string;
  readonly sealingKey: string;
  readonly partner: string;
  readonly kill: 'before the commit' | 'after the commit';
  /** Settles this transfer rather than publishing. */
  readonly transfer?: string;
}): Promise<NodeJS.Signals | null> {
  const child = fork(script, {
    execArgv: ['--conditions=source'],
    env: {
      PATH: process.env.PATH,
      DATABASE_FILE: options.file,
      SEALING_KEY: options.sealingKey,
      PARTNER: options.partner,
      KILL: options.kill,
      TRANSFER: options.transfer ?? '',
    },
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  if (signal === null) throw new Error(`the process ended with ${code}`);
  return signal;
}
