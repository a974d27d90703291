import { createServer } from 'node:http';
import type { Ostiary } from '@ostiary/core';
import { close, listen } from '../http.ts';

/**
 * Serves an installation in a process that was started by `forked`, and tells the parent where.
 * @param ending - what hanging up means: `in order` closes the installation, `at once` is for those that are killed
 */
export async function serveForked(ostiary: Ostiary, ending: 'in order' | 'at once'): Promise<void> {
  const server = createServer(ostiary.handler);
  const origin = await listen(server);
  process.send?.(origin);
  process.once('disconnect', async () => {
    if (ending === 'at once') process.exit(0);
    await close(server);
    await ostiary.close();
  });
}
