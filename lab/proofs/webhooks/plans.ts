import fc from 'fast-check';
import type { Behaviour } from './receiver.ts';
import type { Plan } from './run.ts';

/** Moments to kill the worker in. */
export function plans(size: {
  readonly behaviour: Behaviour;
  readonly deliveries: number;
  readonly kills: number;
}): fc.Arbitrary<Plan> {
  const { behaviour, deliveries, kills } = size;
  const kill = fc.record({ share: fc.double({ min: 0, max: 0.9, noNaN: true }), delayMs: fc.nat(20) });
  return fc
    .array(kill, { minLength: kills, maxLength: kills, size: 'max' })
    .map((moments) => ({ behaviour, deliveries, kills: moments }));
}
