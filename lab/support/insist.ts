import { setTimeout } from 'node:timers/promises';

const attempts = 6;

/**
 * Prepares a step, and repeats it if a busy machine makes the first attempt fail. Never for the subject of a
 * proof.
 */
export async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts) throw error;
      await setTimeout(200 * attempt);
    }
  }
}
