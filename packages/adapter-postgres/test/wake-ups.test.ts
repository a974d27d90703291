import { setTimeout as pause } from 'node:timers/promises';
import type { Storage, WakeUps, Work } from '@ostiary/core/storage';
import { Client, Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startNetwork } from '../../../lab/support/network.ts';
import { silentLogger } from '../../core/src/index.ts';
import { systemRandom } from '../../core/src/secrets/random.ts';
import { nodeTimer, type Schedule } from '../../core/src/time/clock.ts';
import { createDispatcher } from '../../core/src/webhooks/dispatcher.ts';
import { pauseMs } from '../../core/src/worker/polling.ts';
import { together } from '../../core/src/worker/together.ts';
import { now } from '../../testing/src/contract/samples.ts';
import { published, registered } from '../../testing/src/contract/webhook-samples.ts';
import { Database } from '../src/database.ts';
import { openPool } from '../src/opened-pool.ts';
import { callTimeoutMs } from '../src/timeouts.ts';
import { postgresWakeUps } from '../src/wake-ups.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

function wakeUpsOf({ wakeUps }: Pick<Storage, 'wakeUps'>): WakeUps {
  if (wakeUps === undefined) throw new Error('the storage has no wake-ups');
  return wakeUps;
}

/** Starts to listen for notifications, and returns those that follow. */
async function listening(storage: Pick<Storage, 'wakeUps'>) {
  const heard: Work[] = [];
  const stop = wakeUpsOf(storage).listen((work) => heard.push(work));
  const begun = async () => {
    await expect.poll(() => heard).toEqual(expect.arrayContaining(['jobs', 'deliveries']));
    heard.length = 0;
  };
  await begun();
  return { heard, stop, begun };
}

/** Returns the process ids of database connections that listen for a schema. */
async function listeners(schema: string): Promise<number[]> {
  const sql = 'SELECT pid FROM pg_stat_activity WHERE query = $1';
  return (await server.pool.query(sql, [`LISTEN "${schema}"`])).rows.map(({ pid }) => pid);
}

/** Starts a worker that delivers webhooks, and records the delivered events. */
async function delivering(storage: Storage, schedule: Schedule) {
  const arrived: string[] = [];
  const claims: unknown[] = [];
  const deliveries = createDispatcher({
    ...{ clock: { now: () => now }, random: systemRandom, logger: silentLogger, telemetry: null, schedule },
    counts: { add() {}, measure() {} },
    ...{
      prefix: 'svc',
      standardHeaders: false,
      delaysMs: [],
      concurrency: 16,
      secretOf: () => 'whsec_0123456789abcdef',
    },
    deliveries: {
      ...storage.deliveries,
      async claim(request) {
        const claimed = await storage.deliveries.claim(request);
        claims.push(claimed);
        return claimed;
      },
    },
    client: {
      async post({ body }) {
        arrived.push(String(body));
        return { ok: true, httpStatus: 204, error: null, response: '', durationMs: 1 };
      },
      abort() {},
      async close() {},
    },
  });
  const nothing = async () => 0;
  const jobs = { start() {}, wake() {}, runDue: nothing, stop: async () => {} };
  const { worker } = together({ jobs, deliveries }, wakeUpsOf(storage));
  worker.start();
  onTestFinished(() => worker.stop());
  return { arrived, claims };
}

test.each(['its own pool', 'a pool of the host’s'])(
  'what one process publishes a worker with %s delivers, although it never polls again by itself',
  async (whose) => {
    const own = whose === 'its own pool' ? { connectionString: server.url } : {};
    const { schema, storage } = await server.opened(own);
    const other = await server.opened({ schema });
    await registered(storage, '1');
    // The only timer that goes off is that of the pause between two claims.
    const schedule: Schedule = (callback, ms) => (ms === pauseMs ? nodeTimer(callback, ms) : () => undefined);
    const { arrived, claims } = await delivering(storage, schedule);
    // The first claim comes at the start, the second once the worker listens.
    await expect.poll(() => claims.length).toBe(2);
    await published(other.storage, 'a');
    wakeUpsOf(other.storage).notify('deliveries');
    await expect.poll(() => arrived).toHaveLength(1);
  },
);

test('behind a pooler it does not listen, and finds what there is by looking', async () => {
  let ended = 0;
  /** A client behind a pooler, which shows a made-up process id of the server. */
  class PooledClient extends Client {
    constructor(options?: object) {
      super(options);
      this.on('connect', () => Reflect.set(this, 'processID', 1));
      this.on('end', () => {
        ended += 1;
      });
    }
  }
  const pool = new Pool({ connectionString: server.url, Client: PooledClient });
  onTestFinished(() => pool.end());
  const { storage } = await server.opened({ pool });
  await registered(storage, '1');
  const heard: Work[] = [];
  wakeUpsOf(storage).listen((work) => heard.push(work));
  const { arrived } = await delivering(storage, nodeTimer);
  await expect.poll(() => ended).toBe(2);
  await published(storage, 'a');
  await expect.poll(() => arrived).toHaveLength(1);
  expect(heard).toEqual([]);
});

test.each(['user', `s${'x'.repeat(62)}`])(
  'schema %s: a process hears of its own work only',
  async (schema) => {
    const [mine, other] = [await server.opened({ schema }), await server.opened()];
    const { heard } = await listening(mine.storage);
    const others = await listening(other.storage);
    wakeUpsOf(other.storage).notify('jobs');
    await expect.poll(() => others.heard).toEqual(['jobs']);
    wakeUpsOf(mine.storage).notify('deliveries');
    await expect.poll(() => heard).toEqual(['deliveries']);
  },
);

test('news during a running notification causes one more notification afterwards', async () => {
  const { storage, watched } = await server.watched();
  const { notify } = wakeUpsOf(storage);
  for (let count = 0; count < 100; count += 1) {
    notify('jobs');
    notify('deliveries');
  }
  const told: unknown[] = [];
  const look = () => {
    for (const { text, values } of watched.ran()) if (text.includes('pg_notify')) told.push(values);
    return told;
  };
  await expect.poll(look).toHaveLength(2);
  await storage.close();
  expect(look()).toEqual([[['jobs']], [['deliveries', 'jobs']]]);
});

test('a connection closed by the server is opened again, and reports that news may have been missed', async () => {
  const { schema, storage } = await server.opened();
  const { heard, begun } = await listening(storage);
  const [pid] = await listeners(schema);
  await server.pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await begun();
  wakeUpsOf(storage).notify('jobs');
  await expect.poll(() => heard).toEqual(['jobs']);
  expect(await listeners(schema)).not.toContain(pid);
});

test('while the server is stopped no error is thrown, and after its start notifications arrive again', async () => {
  const { storage } = await server.opened({ connectionString: server.url });
  const { heard, begun } = await listening(storage);
  await server.stop();
  wakeUpsOf(storage).notify('jobs');
  wakeUpsOf(storage).listen(() => undefined);
  await server.start();
  await begun();
  wakeUpsOf(storage).notify('deliveries');
  await expect.poll(() => heard).toContain('deliveries');
});

test('a connection that broke without notice is detected and opened again', async () => {
  const network = await startNetwork(server.port);
  const url = server.url.replace(`:${server.port}/`, `:${network.port}/`);
  const database = new Database({ schema: server.nextSchema(), pool: () => openPool(url, callTimeoutMs) });
  await database.open();
  const { close, ...wakeUps } = postgresWakeUps(database, 50);
  onTestFinished(async () => {
    close();
    await network.close();
    await database.close();
  });
  const { heard, begun } = await listening({ wakeUps });
  network.cut();
  // Wait longer than the interval of the check, so that its query is lost and the connection never recovers.
  await pause(200);
  network.mend();
  await begun();
  wakeUps.notify('deliveries');
  await expect.poll(() => heard).toContain('deliveries');
});

test('who stops listening, or closes the storage, leaves no connection', async () => {
  const { schema, storage } = await server.opened();
  const { stop } = await listening(storage);
  stop();
  await expect.poll(() => listeners(schema)).toEqual([]);
  await listening(storage);
  await storage.close();
  await expect.poll(() => listeners(schema)).toEqual([]);
});
