// Serves nobody: what it meets is what the machine does to any process. Started by `run.ts`, never imported.
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serve, settings } from '../../support/measure/control.ts';
import { watchLoop } from './loop-health.ts';

/** What the machine did to a process that does nothing, since it was asked last. */
export interface Stalls {
  /** Milliseconds by which its latest timer was late. */
  readonly delayMax: number;
  /** Milliseconds of the longest flush of a few kilobytes to the disk, which is what a commit waits for. */
  readonly flushMax: number;
}

const flushEveryMs = 250;
const page = Buffer.alloc(8_192, 1);

const { port } = settings<{ readonly port: number }>();
const directory = mkdtempSync(join(tmpdir(), 'ostiary-bystander-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));

let flushMax = 0;

async function flushOverAndOver(): Promise<never> {
  const file = await open(join(directory, 'page'), 'w');
  for (;;) {
    await delay(flushEveryMs);
    const begun = performance.now();
    await file.write(page, 0, page.length, 0);
    await file.datasync();
    flushMax = Math.max(flushMax, performance.now() - begun);
  }
}

const health = watchLoop();
const minute = watchLoop();
void flushOverAndOver();

serve((_request, response) => response.writeHead(404).end(), port, {
  health,
  stalls(): Stalls {
    const stalls = { delayMax: minute().delayMax, flushMax };
    flushMax = 0;
    return stalls;
  },
});
