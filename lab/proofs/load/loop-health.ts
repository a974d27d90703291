import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** How a process has been since it was asked last. */
export interface Health {
  /** Milliseconds by which a timer came later than it should have. */
  readonly delayP50: number;
  readonly delayP99: number;
  readonly delayMax: number;
  /** Share of the time in which its thread was busy or waited for a core, from 0 to 1. */
  readonly busy: number;
  /** Cores that it used. */
  readonly cores: number;
}

/** Of the timer that measures: what it reports includes its own period. */
const resolutionMs = 10;

const later = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);

/** Watches this process from now on. */
export function watchLoop(): () => Health {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let since: EventLoopUtilization = performance.eventLoopUtilization();
  let used = process.cpuUsage();
  let usedAt = performance.now();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, since);
    const { user, system } = process.cpuUsage(used);
    const health = {
      delayP50: later(delay.percentile(50)),
      delayP99: later(delay.percentile(99)),
      delayMax: later(delay.max),
      busy: utilization,
      cores: (user + system) / 1000 / (performance.now() - usedAt),
    };
    [since, used, usedAt] = [now, process.cpuUsage(), performance.now()];
    delay.reset();
    return health;
  };
}
