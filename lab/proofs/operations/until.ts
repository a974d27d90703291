import { setTimeout as delay } from 'node:timers/promises';

const patienceMs = 45_000;

/** Waits until it holds. @throws Error when that takes too long */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${patienceMs / 1000} s`);
    await delay(200);
  }
}
