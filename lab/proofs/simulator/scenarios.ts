import type { Plan } from './plan.ts';
import type { Report } from './tally.ts';

const minute = 60_000;

/** The schedule of the specification. */
const delaysMs = [1, 5, 30, 120].map((minutes) => minutes * minute);

/** One endpoint with 30 % of all deliveries, and others with the rest, each as quick as partners usually are. */
function endpointsOf(perSecond: number, others: number): Plan['endpoints'] {
  const one = (share: number) => ({ perSecond: share * perSecond, serviceMs: 80 });
  return [one(0.3), ...Array.from({ length: others }, () => one(0.7 / others))];
}

type Kind = Plan['outage']['kind'];

/** The endpoint is dead for two hours. What a worker and the database take is what they took when they were measured. */
export function twoHours(kind: Kind, perSecond: number, workers: number): Plan {
  return {
    ...{
      endpoints: endpointsOf(perSecond, 20),
      workers,
      concurrency: 512,
      delaysMs,
      cpuMs: 0.045,
      roundMs: 10,
    },
    outage: { fromMs: 10 * minute, toMs: 130 * minute, kind },
    ...{ untilMs: 300 * minute, seed: 1 },
  };
}

/** The same, 120 times as short and small enough for the real dispatcher, in which nothing takes time but endpoints. */
export function small(kind: Kind): Plan {
  return {
    ...{ endpoints: endpointsOf(10, 4), workers: 2, concurrency: 64, cpuMs: 0, roundMs: 0 },
    delaysMs: delaysMs.map((ms) => ms / 120),
    outage: { fromMs: 5_000, toMs: 65_000, kind },
    ...{ untilMs: 150_000, seed: 1 },
  };
}

/** What the model and the real dispatcher have to agree on, and by how much they may differ: a share, or a number where both are small. */
const tolerances = {
  attempts: [0.05, 5],
  backlog: [0.05, 5],
  dropped: [0.05, 3],
  busiestBack: [0.25, 3],
  drainedMs: [0.1, 1_500],
  othersWorstMs: [0.1, 60],
  othersDelivered: [0.02, 5],
  underWay: [0.05, 0.05],
} as const satisfies Partial<Record<keyof Report, readonly [share: number, number: number]>>;

/** Where they differ by more. */
export function differences(model: Report, real: Report): string[] {
  return Object.entries(tolerances).flatMap(([name, [share, least]]) => {
    const [said, was] = [model[name as keyof Report], real[name as keyof Report]];
    const isNear =
      said === was ||
      (said !== null && was !== null && Math.abs(said - was) <= Math.max(least, share * Math.abs(was)));
    return isNear ? [] : [`${name}: the model says ${said}, the dispatcher did ${was}`];
  });
}
