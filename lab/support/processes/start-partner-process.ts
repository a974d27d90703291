import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./partner-process.ts', import.meta.url));

/** A partner API in a process of its own. */
export interface PartnerProcess {
  readonly origin: string;
  /** The signal that ended it, or `null` for an orderly end. */
  readonly ended: Promise<NodeJS.Signals | null>;
  stop(): Promise<void>;
}

/** Starts a partner API on a SQLite file; several may share one. */
export async function startPartnerProcess(options: {
  readonly file: string;
  readonly sealingKey: string;
  /** Ends the process between the commit of a transfer and its answer. */
  readonly dieAfterCommit?: boolean;
}): Promise<PartnerProcess> {
  const child = fork(script, {
    execArgv: ['--conditions=source'],
    env: {
      PATH: process.env.PATH,
      DATABASE_FILE: options.file,
      SEALING_KEY: options.sealingKey,
      DIE_AFTER_COMMIT: options.dieAfterCommit === true ? '1' : '0',
    },
  });
  const exit = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const origin = await Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    exit.then(([code, signal]) => {
      throw new Error(`the partner API ended with ${code ?? signal}`);
    }),
  ]);
  return {
    origin,
    ended: exit.then(([, signal]) => signal),
    async stop() {
      if (child.connected) child.disconnect();
      await exit;
    },
  };
}
