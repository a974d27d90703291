import { setTimeout as delay } from 'node:timers/promises';
import type { Failed } from './generator.ts';
import type { Asked } from './scene.ts';

const firstRate = 50;
/** From one step to the next, until there are errors, and then again from the last step without. */
const growth = [1.3, 1.1] as const;
/** Long enough for a queue to grow where more begins than ends. */
const stepMs = 15_000;
/** All steps together. */
const limitMs = 300_000;

/** What is still under way when a step ends has ended by then, one way or the other. */
const settleMs = 1_500;

async function failuresAt(generator: Asked, rate: number): Promise<Failed> {
  await generator.ask('begin', rate);
  await delay(stepMs);
  await generator.ask('end');
  return generator.ask<Failed>('failed');
}

/**
 * Looks for the rate at which errors begin, from below.
 * @param passed - told of each step
 */
export async function findErrorRate(
  generator: Asked,
  passed: (rate: number, failed: Failed) => void,
): Promise<number> {
  const deadline = performance.now() + limitMs;
  let good = firstRate / growth[0];
  let bad = Number.POSITIVE_INFINITY;
  for (const factor of growth) {
    for (;;) {
      const rate = Math.round(good * factor);
      if (rate >= bad || (performance.now() > deadline && Number.isFinite(bad))) break;
      const failed = await failuresAt(generator, rate);
      passed(rate, failed);
      await delay(settleMs);
      if (failed.count > 0) {
        bad = rate;
        break;
      }
      good = rate;
    }
  }
  return bad;
}
