import { openLoop } from '../../support/measure/open-loop.ts';
import { type Claim, until } from '../../support/proof.ts';
import { openPrometheus, type Prometheus } from './prometheus.ts';
import { rates, seconds, setWatchedStage, type WatchedStage } from './stage.ts';

/** A fault of the deployment, and the alerts that it has to raise. */
interface Fault {
  readonly name: string;
  readonly alerts: readonly string[];
  /** Makes the fault. @returns a function that ends the fault, or nothing if it stays or ends by itself */
  make(): Promise<(() => Promise<unknown>) | undefined>;
}

/** Time within which the alerts of a fault have to fire, in milliseconds. `OstiaryJobsWait` needs a job that is a minute old. */
const withinMs = 120_000;

/**
 * Number of lists of payments per second while a table is locked. The three keys together may make ten a
 * second, on average over a minute.
 */
const listsPerSecond = 20;

/** Locks a table, so that every call that reads it waits with its connection. @returns a function that ends the lock */
async function lockTable({ server }: WatchedStage, table: string): Promise<() => Promise<void>> {
  const connection = await server.app.connect();
  await connection.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return async () => {
    await connection.query('ROLLBACK');
    connection.release();
  };
}

/**
 * Returns the faults, in the order in which they are made. Each one is over before the next one begins, except
 * that the endpoint stays down.
 */
function faultsOf(stage: WatchedStage): readonly Fault[] {
  const { authUrl, credentials, receiver, server, web, worker } = stage;
  const keys = credentials.apiKeys.flatMap((apiKey) => apiKey.keys);
  return [
    {
      name: 'the database is stopped',
      alerts: ['OstiaryDatabaseAway', 'OstiaryErrors'],
      async make() {
        await server.stop();
        return server.start;
      },
    },
    {
      name: 'the payment rail throws errors',
      alerts: ['OstiaryPaymentOutcomeUnknown', 'OstiaryJobsFail'],
      async make() {
        await server.app.query('ALTER TABLE app.postings RENAME TO postings_away');
        return () => server.app.query('ALTER TABLE app.postings_away RENAME TO postings');
      },
    },
    {
      name: 'calls wait for a locked table',
      alerts: ['OstiaryConnectionsExhausted', 'OstiarySlow'],
      async make() {
        const unlock = await lockTable(stage, 'ostiary.transfers');
        // Lists of payments take a connection each. Look-ups by a key would share one.
        let calls = 0;
        const list = async () => {
          calls += 1;
          const headers = { 'X-API-Key': keys[calls % keys.length] ?? '' };
          await (await fetch(`${authUrl}/v1/partner/payments`, { headers })).arrayBuffer();
        };
        const lists = openLoop(listsPerSecond, list, () => undefined);
        return async () => {
          await unlock();
          await lists.stop();
        };
      },
    },
    {
      name: 'an endpoint is down',
      alerts: ['OstiaryDeliveriesDropped'],
      async make() {
        await receiver.close();
        // The endpoint stays down, so that deliveries are due when the worker ends.
        return undefined;
      },
    },
    {
      name: 'the only worker has ended',
      alerts: ['OstiaryDown', 'OstiaryJobsWait', 'OstiaryDeliveriesWait'],
      async make() {
        await worker.stop();
        return worker.start;
      },
    },
    {
      name: 'a process is started again and again',
      alerts: ['OstiaryRestarts'],
      async make() {
        for (let count = 0; count < 3; count += 1) {
          await web.restart({});
          // Prometheus sees a new process only if its first uptime is below the last one of the process before.
          await seconds(8);
        }
        return undefined;
      },
    },
  ];
}

/** Makes a fault, and checks that its alerts fire. */
async function proveFault(prometheus: Prometheus, fault: Fault): Promise<Claim> {
  const before = await prometheus.firing();
  const early = fault.alerts.filter((alert) => before.has(alert));
  const missing = new Set(fault.alerts);
  const found: string[] = [];
  const started = performance.now();
  const end = await fault.make();
  try {
    await until(
      async () => {
        for (const alert of await prometheus.firing()) {
          if (missing.delete(alert))
            found.push(`${alert} ${((performance.now() - started) / 1_000).toFixed(0)} s`);
        }
        return missing.size === 0;
      },
      { everyMs: 500, withinMs },
    );
  } finally {
    await end?.();
  }
  return {
    name: `alerts: ${fault.name}`,
    problems: [
      ...early.map((alert) => `${alert} fired before`),
      ...[...missing].map((alert) => `${alert} did not fire`),
    ],
    found: found.join(', '),
  };
}

/** Alerts that look back at a time of faults, so that they fire for some minutes after it. */
const lookingBack = ['OstiaryDeliveriesDropped', 'OstiaryPaymentOutcomeUnknown', 'OstiaryRestarts'];

/** Makes faults under load in a deployment of its own, and checks that the alerts fire, and that they end after the faults. */
export async function proveFiring(program: string): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  const stage = await setWatchedStage(ends, { OSTIARY_LOG_LEVEL: 'fatal' });
  const prometheus = await openPrometheus(ends, program, Object.values(stage.metrics));
  stage.load.begin('firing');
  await stage.load.start(rates);
  await seconds(10);
  const claims: Claim[] = [];
  for (const fault of faultsOf(stage)) {
    claims.push(await proveFault(prometheus, fault));
    await seconds(20);
  }
  const left = async () => [...(await prometheus.firing())].filter((name) => !lookingBack.includes(name));
  await until(async () => (await left()).length === 0, { everyMs: 500 });
  claims.push({ name: 'alerts end after the faults', problems: await left() });
  return claims;
}
