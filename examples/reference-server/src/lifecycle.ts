import { AddressError } from '@ostiary/web-kit';
import { ConfigError } from './config-error.ts';
import type { ReferenceServer } from './server.ts';

/**
 * Closes on the first SIGTERM or SIGINT and exits with 0; exits at once on the second one, for an operator who does not
 * want to wait.
 */
export function closeOnSignals(close: () => Promise<void>): void {
  let isClosing = false;
  const begin = (): void => {
    isClosing = true;
    close().then(
      () => process.exit(0),
      (error: unknown) => failToStart(error),
    );
  };
  const onSignal = (): void => (isClosing ? process.exit(1) : begin());
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // The primary of several processes replaces them on SIGHUP. For one process it says that the terminal was closed. The shell and the
  // system may both send it: a second one is no impatience.
  if (process.listenerCount('SIGHUP') === 0) process.on('SIGHUP', () => void (isClosing || begin()));
}

/** Messages from the primary process to the processes that it started, beside signals; see `cluster.ts`. */
export type Order = 'leave' | 'metrics';

/** Does what the primary says, and ends with it. */
export function obeyPrimary(server: ReferenceServer): void {
  const end = (order?: { readonly replaced: boolean }): void =>
    void server.close(order).then(() => process.exit(0), failToStart);
  // Terminals and systemd send signals to every process, and the primary sends its own: the second one is no impatience.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => end());
  process.on('SIGHUP', () => undefined);
  process.on('message', async (order: Order) => {
    if (order === 'leave') end({ replaced: true });
    else process.send?.(await server.metrics());
  });
}

/** Says in one line why the program cannot go on, and exits with 1. An operator's mistake has no stack. */
export function failToStart(error: unknown): never {
  const expected = error instanceof ConfigError || error instanceof AddressError;
  const text =
    error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`ostiary: ${expected ? text.replace(/\s*\n\s*/g, '; ') : text}\n`);
  process.exit(1);
}
