import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Benchmark } from '../../support/measure/benchmark.ts';
import type { ServerProcess } from '../../support/measure/server-process.ts';
import { createStolenTime, type Turn } from '../../support/measure/stolen-time.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres/as-installed.ts';
import { type ContestantName, contestantNames, descriptions } from './contestants.ts';
import { bodyBytes } from './fixture.ts';
import { preciseNow } from './servers/contestant.ts';
import type { Taken } from './servers/sink.ts';

/** How often it is looked whether the last ones are settled, in milliseconds. */
const lookMs = 2;

interface Side {
  readonly database: string;
  readonly client: Client;
}

/** One PostgreSQL with a database for each contestant, and the sink that all post to. */
export class Arena {
  readonly sink: ServerProcess;
  readonly #postgres: PostgresServer;
  readonly #sides: ReadonlyMap<ContestantName, Side>;
  readonly #bench: Benchmark;
  readonly #sealingKey = randomBytes(32).toString('base64url');
  readonly #prepared = new Set<ContestantName>();
  #started = 0;
  /** Which headers a request has, whoever makes it. */
  #headers: string | null = null;

  private constructor(
    postgres: PostgresServer,
    sides: ReadonlyMap<ContestantName, Side>,
    sink: ServerProcess,
    bench: Benchmark,
  ) {
    this.#postgres = postgres;
    this.#sides = sides;
    this.sink = sink;
    this.#bench = bench;
  }

  static async open(bench: Benchmark): Promise<Arena> {
    const postgres = await startPostgres();
    const sides = new Map<ContestantName, Side>();
    for (const name of contestantNames) {
      const database = await postgres.newDatabase();
      const client = new Client({ connectionString: database });
      await client.connect();
      sides.set(name, { database, client });
    }
    return new Arena(postgres, sides, await bench.process('sink', {}, []), bench);
  }

  /** Starts a process of a contestant, in which nothing is delivered yet. */
  async start(name: ContestantName, setting: number): Promise<ServerProcess> {
    const { database } = this.#side(name);
    this.#started += 1;
    const server = await this.#bench.start(name, {
      ...{ sink: this.sink.port, database, setting, sealingKey: this.#sealingKey },
      firstNumber: this.#started * 1_000_000_000,
    });
    if (!this.#prepared.has(name)) await server.ask('prepare');
    this.#prepared.add(name);
    return server;
  }

  /** Starts the process that posts without a queue. */
  startRaw(): Promise<ServerProcess> {
    return this.#bench.start('raw', { sink: this.sink.port });
  }

  /**
   * Deliveries per second of processes that share a full queue: from the first arrival at the sink to the last
   * delivery that is settled in the database.
   * @throws Error when the sink did not get every one, whole, once and with the headers that everybody sends
   */
  async drain(name: ContestantName, servers: readonly ServerProcess[], count: number): Promise<Turn> {
    await servers[0]?.ask('prefill', count);
    await this.#tidy();
    await this.sink.ask('take');
    const stolen = createStolenTime();
    const all = this.sink.ask('expect', count);
    await Promise.all(servers.map((server) => server.ask('start')));
    await all;
    while ((await this.#unsettled(name)) > 0) await pause(lookMs);
    const end = preciseNow();
    const taken = stolen();
    await Promise.all(servers.map((server) => server.ask('stop')));
    return { value: await this.#rate(count, end), stolen: taken };
  }

  /** POSTs per second without a queue. */
  async postRaw(server: ServerProcess, count: number): Promise<Turn> {
    await this.#tidy();
    await this.sink.ask('take');
    const stolen = createStolenTime();
    await server.ask('post', count);
    const end = preciseNow();
    const taken = stolen();
    return { value: await this.#rate(count, end), stolen: taken };
  }

  async close(): Promise<void> {
    await this.sink.stop();
    for (const { client } of this.#sides.values()) await client.end();
    await this.#postgres.stop();
  }

  async #rate(count: number, end: number): Promise<number> {
    const { received, bytes, firstAt, headers } = await this.sink.ask<Taken>('take');
    this.#headers ??= headers;
    if (headers !== this.#headers) throw new Error(`headers were ${this.#headers}, and are now ${headers}`);
    if (received !== count || bytes !== count * bodyBytes) {
      throw new Error(`the sink got ${received} requests with ${bytes} bytes`);
    }
    return (count * 1000) / (end - firstAt);
  }

  async #unsettled(name: ContestantName): Promise<number> {
    const { rows } = await this.#side(name).client.query(descriptions[name].unsettled);
    return rows[0].count;
  }

  /** Nobody works off in his turn what others left behind: dead rows and missing statistics. */
  async #tidy(): Promise<void> {
    for (const { client } of this.#sides.values()) await client.query('VACUUM (ANALYZE)');
  }

  #side(name: ContestantName): Side {
    const side = this.#sides.get(name);
    if (side === undefined) throw new Error(`there is no ${name}`);
    return side;
  }
}
