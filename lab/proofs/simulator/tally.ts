import { percentile } from '../../support/measure/statistics.ts';
import type { Plan } from './plan.ts';

/** The delays of others are looked at in windows of so many milliseconds. */
const windowMs = 10_000;
/** Others are late when the slowest hundredth of a window took longer. */
const lateMs = 1_000;

/** Of the endpoint that dies: what waits, and which attempts it gets. */
function createPatient({ endpoints, outage }: Plan) {
  const published: number[] = [];
  const ended: number[] = [];
  const attempts = new Map<number, number>();
  let dropped = 0;

  /** Attempts in the busiest second from one moment to another. */
  function busiest(fromMs: number, toMs: number): number {
    const counts = Array.from(attempts, ([at, count]) => (at >= fromMs && at < toMs ? count : 0));
    return counts.reduce((most, count) => Math.max(most, count), 0);
  }

  /** When it is back and no more are left than of one second; `null` when that takes longer than the plan. */
  function drainedAt(): number | null {
    let known = 0;
    for (const [index, at] of ended.entries()) {
      while ((published[known] ?? Number.POSITIVE_INFINITY) <= at) known += 1;
      if (at >= outage.toMs && known - index - 1 <= (endpoints[0]?.perSecond ?? 0)) return at;
    }
    return null;
  }

  return {
    published: (at: number): void => void published.push(at),
    begun(at: number): void {
      const second = at - (at % 1_000);
      attempts.set(second, (attempts.get(second) ?? 0) + 1);
    },
    ended(at: number, isDropped: boolean): void {
      ended.push(at);
      if (isDropped) dropped += 1;
    },
    report() {
      const before = (times: readonly number[]) => times.filter((time) => time <= outage.toMs).length;
      const drained = drainedAt();
      return {
        attempts: [...attempts.values()].reduce((sum, count) => sum + count, 0),
        dropped,
        /** When it comes back. */
        backlog: before(published) - before(ended),
        busiestDead: busiest(outage.fromMs, outage.toMs),
        busiestBack: busiest(outage.toMs, Number.POSITIVE_INFINITY),
        /** Milliseconds after its return. */
        drainedMs: drained === null ? null : drained - outage.toMs,
      };
    },
  };
}

/** Of the others: how late they are, and how many attempts are under way. */
function createOthers({ endpoints, outage, untilMs }: Plan) {
  let window = 0;
  let delays: number[] = [];
  let worstMs = 0;
  let lateAt: number | null = null;
  let [delivered, serviceMs] = [0, 0];
  let [underWay, changedAt, area] = [0, 0, 0];

  function change(by: number, at: number): void {
    area += underWay * (at - changedAt);
    [underWay, changedAt] = [underWay + by, at];
  }

  function endWindow(at: number): void {
    const slowest = delays.length === 0 ? 0 : percentile(delays, 0.99);
    worstMs = Math.max(worstMs, slowest);
    if (slowest > lateMs) lateAt ??= window * windowMs;
    [window, delays] = [Math.floor(at / windowMs), []];
  }

  return {
    change,
    delivered(endpoint: number, publishedAt: number, at: number): void {
      if (at >= (window + 1) * windowMs) endWindow(at);
      delays.push(at - publishedAt);
      delivered += 1;
      serviceMs += endpoints[endpoint]?.serviceMs ?? 0;
    },
    report() {
      change(0, untilMs);
      endWindow(untilMs);
      return {
        /** The slowest hundredth of the worst window, and when it was late first, after the endpoint died. */
        othersWorstMs: worstMs,
        othersLateMs: lateAt === null ? null : lateAt - outage.fromMs,
        othersDelivered: delivered,
        /** Attempts under way on average, as counted; and what Little's law says: their rate times the service time. */
        underWay: area / untilMs,
        lawSays: serviceMs / untilMs,
      };
    },
  };
}

/** What came of a plan. */
export type Report = ReturnType<Tally['report']>;

/** Counts what happens, the same for the model and for the real dispatcher. */
export type Tally = ReturnType<typeof createTally>;

export function createTally(plan: Plan) {
  const [patient, others] = [createPatient(plan), createOthers(plan)];
  return {
    published(endpoint: number, at: number): void {
      if (endpoint === 0) patient.published(at);
    },
    begun(endpoint: number, at: number): void {
      if (endpoint === 0) patient.begun(at);
      else others.change(1, at);
    },
    ended(endpoint: number, at: number): void {
      if (endpoint !== 0) others.change(-1, at);
    },
    delivered(endpoint: number, publishedAt: number, at: number): void {
      if (endpoint === 0) patient.ended(at, false);
      else others.delivered(endpoint, publishedAt, at);
    },
    dropped: (at: number): void => patient.ended(at, true),
    report: () => ({ ...patient.report(), ...others.report() }),
  };
}
