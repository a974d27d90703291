import { setTimeout as delay } from 'node:timers/promises';
import { StepFailed } from './report.ts';

/** Returns a value, or fails the step if the value is undefined. @throws {@link StepFailed} */
export function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new StepFailed(`there is no ${what}`);
  return value;
}

/** Returns a value that must be text. @throws {@link StepFailed} if the value is not text */
export function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new StepFailed(`${what} is missing`);
  return value;
}

/**
 * Calls a function repeatedly until the function returns a value. @throws {@link StepFailed} if no value came
 * in time
 */
export async function eventually<Value>(
  what: string,
  read: () => Promise<Value | undefined> | Value | undefined,
  { withinMs = 15_000, everyMs = 100 } = {},
): Promise<Value> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (performance.now() >= deadline) throw new StepFailed(`${what}: not within ${withinMs / 1000} s`);
    await delay(everyMs);
  }
}
