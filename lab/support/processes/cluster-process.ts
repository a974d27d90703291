// Web process or worker of a cluster, which can be killed. Started by `Cluster`, never imported.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type PostgresPoolClient, postgresPool, postgresStorage } from '@ostiary/adapter-postgres';
import { createOstiary } from '@ostiary/core';
import { recorded } from '../measure/claim-records.ts';
import { railOn } from '../rail.ts';
import type { ProcessSettings } from './cluster.ts';
import { options } from './cluster-options.ts';
import { serve, settings } from './control.ts';

const { role, databaseUrl, railUrl, sealingKey, time, isWorking } = settings<ProcessSettings>();
const poolSize = 10;

// The host's own pool, so that the host can occupy all of its connections.
const pool = postgresPool({
  connectionString: `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}application_name=ostiary%20${role}`,
  max: poolSize,
});
const { storage, takeHolds } = recorded(postgresStorage({ pool }));
const ostiary = await createOstiary(options(storage, { sealingKey, time, rail: railOn(railUrl) }));

/** Returns a connection of the pool, and waits in the pool's queue if necessary. */
async function connection(): Promise<PostgresPoolClient> {
  for (;;) {
    try {
      return await pool.connect();
    } catch {
      // All connections are in use: try again.
    }
  }
}

/** Resolution of the event-loop delay histogram in milliseconds, which the histogram's values include. */
const resolution = 10;
const delay = monitorEventLoopDelay({ resolution });
delay.enable();

let taken: PostgresPoolClient[] = [];
if (role === 'worker' && isWorking) ostiary.worker.start();
await serve(ostiary.handler, {
  async takeConnections() {
    taken = await Promise.all(Array.from({ length: poolSize }, connection));
  },
  giveConnectionsBack() {
    for (const client of taken.splice(0)) client.release();
  },
  startWorker: () => ostiary.worker.start(),
  stopWorker: () => ostiary.worker.stop(),
  takeHolds,
  /**
   * Returns the delays of timers since the last call, in milliseconds: the 99th percentile and the maximum.
   */
  loopDelay() {
    const late = [delay.percentile(99), delay.max].map((ns) => Math.max(0, ns / 1e6 - resolution));
    delay.reset();
    return late;
  },
  /** Returns the bytes of heap in use after a full garbage collection. */
  alive() {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  },
});
