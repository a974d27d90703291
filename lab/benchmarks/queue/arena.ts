import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../support/free-port.ts';
import type { Benchmark } from '../../support/measure/benchmark.ts';
import type { HostSettings } from '../../support/measure/host.ts';
import { hostSettings } from '../../support/measure/temporary.ts';
import type { TestPostgres } from '../../support/postgres/postgres.ts';
import type { Child } from '../../support/processes/child.ts';
import { type ContestantName, contestantNames, descriptions } from './contestants.ts';
import { bodyBytes } from './fixture.ts';
import { preciseNow } from './servers/contestant.ts';
import type { Taken } from './servers/sink.ts';

/** Interval between two checks whether a queue library has settled all deliveries, in milliseconds. */
const lookMs = 2;

/** Databases of the compared queue libraries, and the receiver to which all of them post. */
export type Arena = Awaited<ReturnType<typeof openArena>>;

export async function openArena(bench: Benchmark, postgres: TestPostgres) {
  const databases = new Map<ContestantName, { readonly settings: HostSettings; readonly client: Client }>();
  for (const name of contestantNames) {
    const settings = await hostSettings(postgres);
    const client = new Client({ connectionString: settings.database ?? '' });
    // Ignore the error: the connection ends with the server.
    client.on('error', () => undefined);
    await client.connect();
    databases.set(name, { settings, client });
  }
  const sink = await bench.start('sink', {}, []);
  const prepared = new Set<ContestantName>();
  let started = 0;
  /** Names of the HTTP headers that the requests of every queue library must have. */
  let known: string | null = null;

  async function isSettled(name: ContestantName): Promise<boolean> {
    const result = await databases.get(name)?.client.query(descriptions[name].unsettled);
    return result?.rows[0].count === 0;
  }

  /**
   * Measures requests per second at the receiver, from the first arrival to the end of the work.
   * @throws Error unless the sink got each request completely, once, and with the headers that all
   * contestants send
   */
  async function rateOf(count: number, work: () => Promise<unknown>): Promise<number> {
    // Vacuum first, so that no contestant inherits dead rows or missing statistics.
    for (const { client } of databases.values()) await client.query('VACUUM (ANALYZE)');
    await sink.ask('take');
    await work();
    const end = preciseNow();
    const { received, bytes, firstAt, headers } = await sink.ask<Taken>('take');
    known ??= headers;
    if (headers !== known) throw new Error(`headers were ${known}, and are now ${headers}`);
    if (received !== count || bytes !== count * bodyBytes)
      throw new Error(`the sink got ${received} requests with ${bytes} bytes`);
    return (count * 1000) / (end - firstAt);
  }

  return {
    sink,
    /** Starts a process with one queue library, which does not deliver yet. */
    async start(name: ContestantName, setting: number, isSilent = false): Promise<Child> {
      started += 1;
      const server = await bench.start(name, {
        ...databases.get(name)?.settings,
        ...{
          port: await freePort(),
          sink: sink.port,
          setting,
          isSilent,
          firstNumber: started * 1_000_000_000,
        },
      });
      if (!prepared.has(name)) await server.ask('prepare');
      prepared.add(name);
      return server;
    },
    /**
     * Measures deliveries per second of processes that share a full queue: from the first arrival at the sink
     * to the last delivery that is settled in the database.
     */
    async drain(name: ContestantName, servers: readonly Child[], count: number): Promise<number> {
      const all = (command: string) => Promise.all(servers.map((server) => server.ask(command)));
      await servers[0]?.ask('prefill', count);
      const rate = await rateOf(count, async () => {
        const arrived = sink.ask('expect', count);
        await all('start');
        await arrived;
        while (!(await isSettled(name))) await pause(lookMs);
      });
      await all('stop');
      return rate;
    },
    /**
     * Measures POSTs per second without a queue and without a database: the upper limit for every queue
     * library.
     */
    async rawSide(count: number): Promise<() => Promise<number>> {
      const raw = await bench.start('raw', { sink: sink.port });
      return () => rateOf(count, () => raw.ask('post', count));
    },
  };
}
