import type { Storage } from '@ostiary/core/storage';
import type { Place } from '../processes.ts';

const { module, make, options }: Place = JSON.parse(process.argv[2] ?? '');

/** The storage that the parent named, opened when it says so. */
export const storage: Storage = (await import(module))[make](options);

/** What else the parent said. */
export const args: readonly string[] = process.argv.slice(3);

/** Tells the parent that this process is ready, works when all are, and reports. */
export function whenAllAreReady(work: () => Promise<unknown>): void {
  process.once('message', async () => {
    const report = await work();
    await storage.close();
    process.send?.(report ?? 'done', () => process.disconnect());
  });
  process.send?.('ready');
}
