import { setTimeout } from 'node:timers/promises';
import type { Disk } from '../../support/postgres/small-disk.ts';
import type { Stage } from '../../support/processes/stage.ts';

/** Number of times that each fault is injected, and the duration of the fault, in real seconds. */
export interface FaultSize {
  readonly kills: number;
  readonly terminations: number;
  readonly restarts: number;
  readonly cutSeconds: number;
  readonly exhaustedSeconds: number;
  readonly fullSeconds: number;
  /** Duration of the load without any fault. */
  readonly quietSeconds: number;
}

/** Servers and processes on which a fault is injected. */
interface FaultContext {
  readonly stage: Stage;
  readonly size: FaultSize;
  readonly random: () => number;
  /** Separate disk for the database, or the reason why there is none. */
  readonly disk: Disk | string;
}

/** A fault that the proof can inject. */
interface Fault {
  readonly name: string;
  /** Injects the fault and repairs the damage again. */
  make(context: FaultContext): Promise<void>;
  /** Returns the reason why the fault cannot be injected on this machine; `null` if it can. */
  skipped?(context: FaultContext): string | null;
}

const seconds = (count: number) => setTimeout(count * 1000);

/** Waits for a random time between 50 % and 150 % of a given time. */
const about = (ms: number, random: () => number) => setTimeout(ms * (0.5 + random()));

const restartOf = (mode: 'fast' | 'immediate'): Fault => ({
  name: `PostgreSQL restarted (${mode})`,
  async make({ stage, size, random }) {
    for (let restart = 0; restart < size.restarts; restart += 1) {
      await stage.server.restart(mode, 1_000 + 500 * random());
      if (restart + 1 < size.restarts) await about(2_000, random);
    }
  },
});

/** All faults, in the order in which the proof injects them. */
export const faults: readonly Fault[] = [
  {
    name: 'none',
    async make({ size }) {
      await seconds(size.quietSeconds);
    },
  },
  {
    name: 'kill -9',
    async make({ stage, size, random }) {
      const { processes } = stage.cluster;
      const restarts: Promise<void>[] = [];
      for (let kill = 0; kill < size.kills; kill += 1) {
        // The first kills hit every process once.
        const index = kill < processes.length ? kill : Math.floor(random() * processes.length);
        const victim = processes[index];
        await victim?.started;
        await about(300, random);
        if (victim !== undefined) restarts.push(victim.kill());
      }
      await Promise.all(restarts);
    },
  },
  {
    name: 'backends terminated',
    async make({ stage, size, random }) {
      for (let round = 0; round < size.terminations; round += 1) {
        await about(300, random);
        await stage.server.app.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'ostiary %'`,
        );
      }
    },
  },
  restartOf('fast'),
  restartOf('immediate'),
  {
    name: 'network cut',
    async make({ stage, size }) {
      stage.network.cut();
      await seconds(size.cutSeconds);
      stage.network.mend();
    },
  },
  {
    name: 'pool exhausted',
    async make({ stage, size }) {
      await Promise.all(stage.cluster.processes.map((one) => one.ask('takeConnections')));
      await seconds(size.exhaustedSeconds);
      await Promise.all(stage.cluster.processes.map((one) => one.ask('giveConnectionsBack')));
    },
  },
  {
    name: 'disk full',
    skipped: ({ disk }) => (typeof disk === 'string' ? disk : null),
    async make({ size, disk }) {
      if (typeof disk === 'string') return;
      await disk.fill();
      await seconds(size.fullSeconds);
      disk.clear();
    },
  },
];
