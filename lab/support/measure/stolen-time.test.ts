import { expect, it } from 'vitest';
import { QuietTurns, type Turn } from './stolen-time.ts';

/** Takes turns of which the system tells these shares. */
function turnsOf(shares: (number | null)[]) {
  let taken = 0;
  const turn = async (): Promise<Turn> => {
    const stolen = shares[taken];
    if (stolen === undefined) throw new Error('there was no need for another turn');
    taken += 1;
    return { value: taken, stolen };
  };
  return { turn, taken: () => taken };
}

it('repeats all that are compared with each other when one was disturbed', async () => {
  const quiet = new QuietTurns(60_000);
  const { turn } = turnsOf([0, 0.051, 0.05, 0, 0]);
  expect(await quiet.values([turn, turn, turn])).toEqual([3, 4, 5]);
  expect(quiet.line).toMatch(/^2 of 5 turns do not count/);
});

it('takes another share for a limit when it is told one', async () => {
  const quiet = new QuietTurns(60_000, 0.01);
  const { turn } = turnsOf([0.011, 0.01]);
  expect(await quiet.values([turn])).toEqual([2]);
  expect(quiet.line).toMatch(/^1 of 2 turns .* over 1 %/);
});

it('repeats nothing where the system does not tell', async () => {
  const { turn, taken } = turnsOf([null, null]);
  expect(await new QuietTurns(60_000).values([turn, turn])).toEqual([1, 2]);
  expect(taken()).toBe(2);
});

it('gives no figures when it is never quiet', async () => {
  const { turn, taken } = turnsOf([1, 1]);
  await expect(new QuietTurns(0).values([turn])).rejects.toThrow(/^no figures: 1 of 1 turns do not count/);
  expect(taken()).toBe(1);
});
