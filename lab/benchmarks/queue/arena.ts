import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { type Benchmark, benchmarkPostgres } from '../../support/measure/benchmark.ts';
import type { ServerProcess } from '../../support/measure/server-process.ts';
import { createStolenTime, type Turn } from '../../support/measure/stolen-time.ts';
import { type ContestantName, contestantNames, descriptions } from './contestants.ts';
import { bodyBytes } from './fixture.ts';
import { preciseNow } from './servers/contestant.ts';
import type { Taken } from './servers/sink.ts';

/** How often it is looked whether the last ones are settled, in milliseconds. */
const lookMs = 2;

/** One PostgreSQL with a database for each contestant, and the sink that all post to. */
export interface Arena {
  readonly sink: ServerProcess;
  /** Starts a process of a contestant, in which nothing is delivered yet. */
  start(name: ContestantName, setting: number): Promise<ServerProcess>;
  /** Starts the process that posts without a queue. */
  startRaw(): Promise<ServerProcess>;
  /**
   * Deliveries per second of processes that share a full queue: from the first arrival at the sink to the last
   * delivery that is settled in the database.
   * @throws Error when the sink did not get every one, whole, once and with the headers that everybody sends
   */
  drain(name: ContestantName, servers: readonly ServerProcess[], count: number): Promise<Turn>;
  /** POSTs per second without a queue. */
  postRaw(server: ServerProcess, count: number): Promise<Turn>;
  close(): Promise<void>;
}

export async function openArena(bench: Benchmark): Promise<Arena> {
  const postgres = await benchmarkPostgres();
  const databases = new Map<ContestantName, string>();
  const clients = new Map<ContestantName, Client>();
  for (const name of contestantNames) {
    const connectionString = await postgres.newDatabase();
    const client = new Client({ connectionString });
    await client.connect();
    databases.set(name, connectionString);
    clients.set(name, client);
  }
  const sink = await bench.process('sink', {}, []);
  const sealingKey = randomBytes(32).toString('base64url');
  const prepared = new Set<ContestantName>();
  let started = 0;
  /** Which headers a request has, whoever makes it. */
  let known: string | null = null;

  async function isSettled(name: ContestantName): Promise<boolean> {
    const result = await clients.get(name)?.query(descriptions[name].unsettled);
    return result?.rows[0].count === 0;
  }

  /** Requests per second, from the first arrival to the end of the work. @param tidyUp - what is not counted */
  async function rateOf(
    count: number,
    work: () => Promise<unknown>,
    tidyUp: () => Promise<unknown> = async () => undefined,
  ): Promise<Turn> {
    // Nobody works off in his turn what others left behind: dead rows and missing statistics.
    for (const client of clients.values()) await client.query('VACUUM (ANALYZE)');
    await sink.ask('take');
    const stolenSoFar = createStolenTime();
    await work();
    const end = preciseNow();
    const stolen = stolenSoFar();
    await tidyUp();
    const { received, bytes, firstAt, headers } = await sink.ask<Taken>('take');
    known ??= headers;
    if (headers !== known) throw new Error(`headers were ${known}, and are now ${headers}`);
    if (received !== count || bytes !== count * bodyBytes)
      throw new Error(`the sink got ${received} requests with ${bytes} bytes`);
    return { value: (count * 1000) / (end - firstAt), stolen };
  }

  return {
    sink,
    async start(name, setting) {
      started += 1;
      const server = await bench.start(name, {
        ...{ sink: sink.port, database: databases.get(name), setting, sealingKey },
        firstNumber: started * 1_000_000_000,
      });
      if (!prepared.has(name)) await server.ask('prepare');
      prepared.add(name);
      return server;
    },
    startRaw: () => bench.start('raw', { sink: sink.port }),
    async drain(name, servers, count) {
      const all = (command: string) => Promise.all(servers.map((server) => server.ask(command)));
      await servers[0]?.ask('prefill', count);
      const work = async (): Promise<void> => {
        const arrived = sink.ask('expect', count);
        await all('start');
        await arrived;
        while (!(await isSettled(name))) await pause(lookMs);
      };
      return rateOf(count, work, () => all('stop'));
    },
    postRaw: (server, count) => rateOf(count, () => server.ask('post', count)),
    async close() {
      await sink.stop();
      for (const client of clients.values()) await client.end();
      await postgres.remove();
    },
  };
}
