import { setTimeout as delay } from 'node:timers/promises';
import { StepFailed } from '../walkthrough/report.ts';

/** Asks until it holds. @throws StepFailed when that takes too long */
export async function waitUntil(
  what: string,
  holds: () => Promise<boolean> | boolean,
  { withinMs, everyMs = 100 }: { readonly withinMs: number; readonly everyMs?: number },
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() >= deadline) throw new StepFailed(`${what}: not within ${withinMs / 1000} s`);
    await delay(everyMs);
  }
}
