import { silentLogger } from '@ostiary/core';
import { DatabaseClock } from '../../../packages/core/src/time/database-clock.ts';

/** Clock that the processes follow: the machine's clock (SQLite) or the database's clock (PostgreSQL). */
export type Source = 'machine' | 'database';

/** A simulated process: its clock, and whether the process is suspended. */
export interface Process {
  readonly clock: { now(): number };
  /** Real time until which the process is suspended. */
  suspendedUntil: number;
  /**
   * Lets the process read the database's clock, if the process follows that clock and ten seconds have
   * passed.
   */
  measure(): Promise<void>;
}

const measureEveryMs = 10_000;

/** Simulates real time, and clocks that differ from real time. All times are in milliseconds. */
export function createWorld(source: Source) {
  const world = {
    real: 1_800_000_000_000,
    /** Milliseconds by which the clock that the processes follow is ahead of real time. */
    ahead: 0,
    /** Real time of the last change of a clock or suspension of a process. */
    disturbedAt: 0,
  };
  const processes: Process[] = [];
  const followed = (): number => world.real + world.ahead;

  async function processOnDatabase(): Promise<Process> {
    // The monotonic clock stops while the process is suspended.
    let [steadyLag, measuredAt, suspendedUntil] = [0, world.real, 0];
    const clock = new DatabaseClock({
      time: async () => followed(),
      steady: () => world.real - steadyLag,
      machine: () => world.real,
      logger: silentLogger,
    });
    await clock.start();
    return {
      clock,
      get suspendedUntil() {
        return suspendedUntil;
      },
      set suspendedUntil(until) {
        steadyLag += until - world.real;
        measuredAt += until - world.real;
        suspendedUntil = until;
      },
      async measure() {
        if (world.real - measuredAt < measureEveryMs) return;
        measuredAt = world.real;
        await clock.measure();
      },
    };
  }

  return {
    world,
    followed,
    /** Checks whether the clocks of all processes that are not suspended agree with the clock that they follow. */
    isFollowed: (): boolean =>
      processes.every(
        ({ clock, suspendedUntil }) =>
          suspendedUntil > world.real || Math.abs(clock.now() - followed()) <= 3_000,
      ),
    async startProcess(): Promise<Process> {
      const process: Process =
        source === 'database'
          ? await processOnDatabase()
          : { clock: { now: followed }, suspendedUntil: 0, measure: async () => undefined };
      processes.push(process);
      return process;
    },
  };
}

export type World = ReturnType<typeof createWorld>;
