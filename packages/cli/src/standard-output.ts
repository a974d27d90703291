const failures: NodeJS.ErrnoException[] = [];

/**
 * Stores an error of standard output or standard error. A closed pipe is ignored: `ostiary keys list kafe |
 * head -1` has then done its work.
 */
function keep(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') failures.push(error);
}

/**
 * Prevents errors of standard output and standard error from ending the process in the middle of a command.
 *
 * @returns a function that returns the first error that lost output; `null` for none
 */
export function outliveStandardOutput(): () => NodeJS.ErrnoException | null {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners('error').includes(keep)) stream.on('error', keep);
  return () => failures[0] ?? null;
}
