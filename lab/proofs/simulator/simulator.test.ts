import { expect, it } from 'vitest';
import { run } from './dispatcher.ts';
import { simulate } from './model.ts';
import { differences, small } from './scenarios.ts';

// The small size of `npm run proof:simulator`.

it.each(['refuses', 'hangs'] as const)(
  'the model says what the dispatcher does when an endpoint %s',
  async (kind) => {
    const plan = small(kind);
    const [model, real] = [simulate(plan), await run(plan)];
    expect(differences(model, real)).toEqual([]);
    expect(model.backlog).toBeGreaterThan(100);
    expect(Math.abs(model.underWay / model.lawSays - 1)).toBeLessThan(0.03);
  },
);
