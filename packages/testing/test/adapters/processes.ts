import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Location of a storage for other processes: module and function of the adapter, and options. */
export interface Place {
  readonly module: string;
  readonly make: string;
  readonly options: object;
}

/** Starts a script in a separate process. */
export function child(script: URL, ...args: readonly string[]): ChildProcess {
  return fork(script, args, { execArgv: ['--conditions=ostiary-source'] });
}

/** Returns the URL of a script in the folder `children`. */
export const shared = (name: string): URL => new URL(`children/${name}`, import.meta.url);

/**
 * Starts processes that wait until all are ready, lets them continue together, and returns the last report of
 * each. If a process ends with an error, the test fails.
 */
export async function together<T>(
  script: URL,
  place: Place,
  argumentsOf: readonly (readonly string[])[],
  onMessage: (message: unknown) => void = () => undefined,
): Promise<T[]> {
  const children = argumentsOf.map((args) => child(script, JSON.stringify(place), ...args));
  const ends = children.map(async (process) => {
    let last: unknown;
    process.on('message', (message) => {
      last = message;
    });
    const [code] = await once(process, 'exit');
    if (code !== 0) throw new Error(`a process ended with ${code}`);
    return last as T;
  });
  await Promise.all(children.map((process) => once(process, 'message')));
  for (const process of children) {
    process.on('message', onMessage);
    process.send('go');
  }
  return Promise.all(ends);
}
