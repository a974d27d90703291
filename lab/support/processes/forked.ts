import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A program of the lab in a process of its own, which tells its parent where it listens. */
export type Forked = ReturnType<typeof forked>;

/**
 * Starts a program.
 * @param script - its source
 * @param env - all of its environment
 */
export function forked(script: URL | string, env: Readonly<Record<string, string>>) {
  const child = fork(script, {
    execArgv: ['--conditions=source'],
    env: { PATH: process.env.PATH, ...env },
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
  const ended = once(child, 'exit').then(([code, signal]): number | NodeJS.Signals => code ?? signal);
  const origin = Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    ended.then((end) => {
      throw new Error(`the process ended with ${end}: ${output}`);
    }),
  ]);
  // Somebody may only wait for its end.
  origin.catch(() => undefined);
  return {
    child,
    /** Where it listens, once it does. Rejects when it ends before. */
    origin,
    /** With what it ended. */
    ended,
    /** Everything that it printed so far, byte for byte. */
    printed: () => output,
    /** `kill -9`, if it is still there. */
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    /** Hangs up, so that it ends in order. Resolves when everything that it printed is read. */
    async stop() {
      if (child.connected) child.disconnect();
      const [end] = await Promise.all([ended, read]);
      return end;
    },
  };
}
