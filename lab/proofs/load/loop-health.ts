import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** How a process has been since it was asked last. */
export interface Health {
  /** Milliseconds by which a timer came later than it should have. */
  readonly delayP50: number;
  readonly delayP99: number;
  readonly delayMax: number;
  /** Share of the time in which its thread was busy or waited for a core, from 0 to 1. */
  readonly busy: number;
}

/** Of the timer that measures: what it reports includes its own period. */
const resolutionMs = 10;

const later = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);

/** Watches this process from now on. */
export function watchLoop(): () => Health {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let since = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const health = {
      delayP50: later(delay.percentile(50)),
      delayP99: later(delay.percentile(99)),
      delayMax: later(delay.max),
      busy: performance.eventLoopUtilization(now, since).utilization,
    };
    since = now;
    delay.reset();
    return health;
  };
}
