import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseOptions } from '../../src/options/parse.ts';
import { withDeadline } from '../../src/time/deadline.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});

it('an answer and a failure in time come through, and leave no timer', async () => {
  await expect(withDeadline('f', async (left: number) => left + 1, 10)(1)).resolves.toBe(2);
  const failing = withDeadline('f', () => Promise.reject(new RangeError('mine')), 10);
  await expect(failing()).rejects.toThrow(new RangeError('mine'));
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  ['answer', (late: PromiseWithResolvers<string>) => late.resolve('late')],
  ['failure', (late: PromiseWithResolvers<string>) => late.reject(new Error('late'))],
])('a late %s is heard by nobody', async (_name, end) => {
  const unhandled: unknown[] = [];
  const hear = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', hear);
  const late = Promise.withResolvers<string>();
  const answer = expect(withDeadline('users.find', () => late.promise, 2)()).rejects.toThrow(
    'users.find did not answer within 2 s',
  );
  vi.advanceTimersByTime(2_000);
  await answer;
  end(late);
  vi.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', hear);
  expect(unhandled).toEqual([]);
});

// Tests with hanging host functions show that each has this deadline.
it('a host has ten seconds unless the option says otherwise', async () => {
  for (const [option, ms] of [
    [{}, 10_000],
    [{ hostTimeoutSeconds: 3 }, 3_000],
  ] as const) {
    const { users } = await parseOptions({
      ...{ authUrl: 'https://id.example', storage: memoryStorage(), sealingKeys: [new Uint8Array(32)] },
      ...{ users: { find: never }, login: { authenticate: never, loginUrl: never } },
      ...option,
    });
    const failed = vi.fn();
    void Promise.resolve(users.find('user-ana', new Set())).catch(failed);
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(failed).toHaveBeenCalledOnce();
  }
});
