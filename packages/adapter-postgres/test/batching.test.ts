import { expect, test } from 'vitest';
import { batchCalls } from '../src/batching.ts';

/** Makes a batcher of calls whose batches end when the test lets them end. */
function heldGroups() {
  const made: { group: readonly string[]; waitedMs: number; end: PromiseWithResolvers<void> }[] = [];
  const call = batchCalls({
    keyOf: (text: string) => text[0] ?? '',
    async make(group: readonly string[], waitedMs) {
      const end = Promise.withResolvers<void>();
      made.push({ group, waitedMs, end });
      await end.promise;
      return group.map((text) => text.toUpperCase());
    },
  });
  return { made, call, groups: () => made.map(({ group }) => group) };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a first call runs at once, later ones run together after it, and each gets its own result', async () => {
  const { made, call, groups } = heldGroups();
  const answers = ['a1', 'a2', 'b1', 'a3'].map(call);
  expect(groups()).toEqual([['a1'], ['b1']]);
  made[0]?.end.resolve();
  expect(await answers[0]).toBe('A1');
  expect(groups()).toEqual([['a1'], ['b1'], ['a2', 'a3']]);
  answers.push(call('a4'));
  made[2]?.end.resolve();
  await turn();
  expect(groups()).toEqual([['a1'], ['b1'], ['a2', 'a3'], ['a4']]);
  for (const { end } of made) end.resolve();
  expect(await Promise.all(answers)).toEqual(['A1', 'A2', 'B1', 'A3', 'A4']);
  // No call is left, so the next one does not wait.
  const last = call('a5');
  expect(groups().at(-1)).toEqual(['a5']);
  made.at(-1)?.end.resolve();
  expect(await last).toBe('A5');
});

test('a group gets the waiting time of its first call', async () => {
  const { made, call } = heldGroups();
  const answers = [call('a1'), call('a2')];
  await new Promise((resolve) => setTimeout(resolve, 50));
  made[0]?.end.resolve();
  await turn();
  expect(made[0]?.waitedMs).toBeLessThan(45);
  expect(made[1]?.waitedMs).toBeGreaterThan(45);
  made[1]?.end.resolve();
  await Promise.all(answers);
});

test('calls of a group that fails fail with it, and later calls continue', async () => {
  const { made, call } = heldGroups();
  const answers = Promise.allSettled(['a1', 'a2', 'a3', 'b1'].map(call));
  made[0]?.end.reject(new Error('gone'));
  made[1]?.end.resolve();
  const reason = new Error('gone');
  const failed = { status: 'rejected', reason };
  expect(await answers).toEqual([failed, failed, failed, { status: 'fulfilled', value: 'B1' }]);
  expect(made).toHaveLength(2);
  const next = call('a4');
  made.at(-1)?.end.resolve();
  expect(await next).toBe('A4');
});
