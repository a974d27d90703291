import type { Storage } from '@ostiary/core/storage';
import type { Place } from '../processes.ts';

const { module, make, options }: Place = JSON.parse(process.argv[2] ?? '');

/** Storage that the parent named, opened at its request. */
export const storage: Storage = (await import(module))[make](options);

/** Remaining arguments from the parent. */
export const args: readonly string[] = process.argv.slice(3);

/** Notifies the parent that this process is ready, works when all are, and reports. */
export function whenAllAreReady(work: () => Promise<unknown>): void {
  process.once('message', async () => {
    const report = await work();
    await storage.close();
    process.send?.(report ?? 'done', () => process.disconnect());
  });
  process.send?.('ready');
}
