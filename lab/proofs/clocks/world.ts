import { silentLogger } from '@ostiary/core';
import { DatabaseClock } from '../../../packages/core/src/time/database-clock.ts';

/** Clock that the processes follow: that of their machine (SQLite) or that of the database (PostgreSQL). */
export type Source = 'machine' | 'database';

/** A process of the installation: its clock, and the time for which it was suspended. */
export interface Process {
  readonly clock: { now(): number };
  /** Real time until which the process is suspended. */
  suspendedUntil: number;
  /** Lets the process ask the database for its time, if it follows one and ten seconds have passed. */
  measure(): Promise<void>;
}

const measureEveryMs = 10_000;

/** The real time, and clocks that show another one. All times are milliseconds. */
export function createWorld(source: Source) {
  const world = {
    real: 1_800_000_000_000,
    /** Milliseconds by which the followed clock is ahead of the real time. */
    ahead: 0,
    /** Real time at which a clock was last set or a process last suspended. */
    disturbedAt: 0,
  };
  const followed = (): number => world.real + world.ahead;

  async function processOnDatabase(): Promise<Process> {
    // The steady clock stands still while the process is suspended.
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
    startProcess: async (): Promise<Process> =>
      source === 'database'
        ? processOnDatabase()
        : { clock: { now: followed }, suspendedUntil: 0, measure: async () => undefined },
  };
}

export type World = ReturnType<typeof createWorld>;
