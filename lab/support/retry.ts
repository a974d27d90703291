import { setTimeout } from 'node:timers/promises';

const attempts = 6;

/**
 * Runs a preparation step, and repeats the step if the step fails on a busy machine. The function must not be
 * used for what a test proves.
 */
export async function retry<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts) throw error;
      await setTimeout(200 * attempt);
    }
  }
}
