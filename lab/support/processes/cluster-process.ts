// A web process or a worker of a cluster, that can be killed. Started by `Cluster`, never imported.
import { postgresStorage } from '@ostiary/adapter-postgres';
import { createOstiary } from '@ostiary/core';
import { Pool, type PoolClient } from 'pg';
import { recorded } from '../measure/claim-records.ts';
import { railOn } from '../rail.ts';
import type { Order, ProcessSettings } from './cluster.ts';
import { options } from './cluster-options.ts';
import { serveForked } from './served.ts';

const settings: ProcessSettings = JSON.parse(process.env.SETTINGS ?? '{}');
const { role, databaseUrl, railUrl, sealingKey, time, partnerLimits, poolSize } = settings;

// A pool of the host's, so that the host can be the one who has all of its connections.
const pool = new Pool({
  connectionString: databaseUrl,
  application_name: `ostiary ${role}`,
  max: poolSize,
  connectionTimeoutMillis: 1_500,
  keepAlive: true,
});
const { storage, take } = recorded(postgresStorage({ pool }));
const ostiary = await createOstiary(
  options(storage, {
    sealingKey,
    time,
    rail: railOn(railUrl),
    ...(partnerLimits === undefined ? {} : { partnerLimits }),
  }),
);

/** A connection of the pool, however long others are in front. */
async function connection(): Promise<PoolClient> {
  for (;;) {
    try {
      const client = await pool.connect();
      // Whoever keeps a connection has to listen to it.
      client.on('error', () => undefined);
      return client;
    } catch (error) {
      if (pool.ended) throw error;
    }
  }
}

let taken: PoolClient[] = [];
const orders: { readonly [order in Order]: () => Promise<unknown> } = {
  async takeConnections() {
    taken = await Promise.all(Array.from({ length: poolSize }, connection));
  },
  async giveConnectionsBack() {
    for (const client of taken) client.release();
    taken = [];
  },
  startWorker: async () => ostiary.worker.start(),
  stopWorker: async () => await ostiary.worker.stop(),
  runDue: async () => await ostiary.worker.runDue(),
  report: async () => take(),
};

process.on('message', (order: Order) => {
  void orders[order]().then((answer) => process.send?.({ order, answer: answer ?? null }));
});
if (role === 'web') await serveForked(ostiary, 'at once');
else {
  process.once('disconnect', () => process.exit(0));
  if (settings.isWorking) ostiary.worker.start();
  process.send?.('');
}
