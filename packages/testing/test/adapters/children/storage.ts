import type { Storage } from '@ostiary/core/storage';
import type { Place } from '../processes.ts';

const { module, make, options }: Place = JSON.parse(process.argv[2] ?? '');

/** Storage that the parent process names. */
export const storage: Storage = (await import(module))[make](options);

/** Further arguments from the parent process. */
export const args: readonly string[] = process.argv.slice(3);

/** Reports that this process is ready, runs its work once all processes are ready, and reports the result. */
export function whenAllAreReady(work: () => Promise<unknown>): void {
  process.once('message', async () => {
    const report = await work();
    await storage.close();
    process.send?.(report ?? 'done', () => process.disconnect());
  });
  process.send?.('ready');
}
