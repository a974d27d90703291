import { setTimeout } from 'node:timers/promises';

const attempts = 6;

/** Prepares something, again when a busy machine does not let it come through at first. Never for what is being proven. */
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
