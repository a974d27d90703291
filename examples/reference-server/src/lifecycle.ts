import { AddressError } from '@ostiary/web-kit';
import { ConfigError } from './config-error.ts';
import type { ReferenceServer } from './server.ts';

/**
 * Closes on the first SIGTERM, SIGINT or, unless it has another listener, SIGHUP, and exits with 0, or with 1
 * if closing fails. A second SIGTERM or SIGINT exits at once, for an operator who does not want to wait.
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
  // A single process gets SIGHUP when the terminal is closed, maybe twice: from the shell and from the
  // system. So the second one does not exit at once. (The primary of several processes replaces them on
  // SIGHUP.)
  if (process.listenerCount('SIGHUP') === 0) process.on('SIGHUP', () => void (isClosing || begin()));
}

/** Messages from the primary process to the processes that it has started; see `cluster.ts`. */
export type Order = 'leave' | 'metrics';

/** Follows the primary process's messages, and ends when the primary ends. */
export function obeyPrimary(server: ReferenceServer): void {
  const end = (order?: { readonly replaced: boolean }): void =>
    void server.close(order).then(() => process.exit(0), failToStart);
  // The second signal does not exit at once: terminals and systemd signal every process, and the primary
  // sends its own signal, too.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => end());
  process.on('SIGHUP', () => undefined);
  process.on('message', async (order: Order) => {
    if (order === 'leave') end({ replaced: true });
    else process.send?.(await server.metrics());
  });
}

/**
 * Writes to standard error why the program cannot start or close, and exits with code 1. An operator's
 * mistake is one line, and any other error is written with its stack trace.
 */
export function failToStart(error: unknown): never {
  const expected = error instanceof ConfigError || error instanceof AddressError;
  const text =
    error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`ostiary: ${expected ? text.replace(/\s*\n\s*/g, '; ') : text}\n`);
  process.exit(1);
}
