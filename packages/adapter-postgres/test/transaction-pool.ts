import { Client } from 'pg';
import type { PostgresClient, PostgresPool, PostgresPoolClient } from '../src/index.ts';

/**
 * Matches statements whose effect the next transaction of a session would see: settings and locks of the
 * session.
 */
const ofSession = /(?:^|;)\s*SET\s+(?!\s|LOCAL\b)|\bpg_(?:try_)?advisory_lock(?:_shared)?\(/i;

/**
 * A pool as strict as a pooler in transaction mode may be: each transaction of a client has another
 * connection, on which `DISCARD ALL` runs afterwards.
 */
export class TransactionPool implements PostgresPool {
  readonly #free: Client[] = [];
  readonly #waiting: ((client: Client) => void)[] = [];
  readonly #all: Client[] = [];
  readonly #connectionString: string;
  /** Number of transactions that ran on the pool. */
  transactions = 0;

  private constructor(connectionString: string) {
    this.#connectionString = connectionString;
  }

  static async open(connectionString: string, size: number): Promise<TransactionPool> {
    const pool = new TransactionPool(connectionString);
    for (let index = 0; index < size; index += 1) {
      await pool.#add();
    }
    return pool;
  }

  async connect(): Promise<PostgresPoolClient> {
    let current: Client | null = null;
    let isReleased = false;
    const query: PostgresClient['query'] = async ({ values, ...statement }) => {
      if (ofSession.test(statement.text)) throw new Error(`keeps it in its session: ${statement.text}`);
      current ??= await this.#take();
      const client = current;
      if (isReleased) {
        this.#pass(client);
        throw new Error('released before there was a connection');
      }
      try {
        return await client.query({ ...statement, values: [...(values ?? [])] });
      } finally {
        if (current === client && client.getTransactionStatus() === 'I') {
          current = null;
          await this.#giveBack(client);
        }
      }
    };
    return {
      query,
      release: (destroy) => {
        isReleased = true;
        if (current === null) return;
        if (!destroy) throw new Error('released inside a transaction');
        // End the connection, as a pooler does when its client disconnects during a transaction.
        current.end().catch(() => undefined);
        current = null;
        void this.#add();
      },
    };
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((client) => client.end()));
  }

  async #add(): Promise<void> {
    const client = new Client({ connectionString: this.#connectionString }).on('error', () => undefined);
    this.#all.push(client);
    await client.connect();
    this.#pass(client);
  }

  async #take(): Promise<Client> {
    return this.#free.shift() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }

  async #giveBack(client: Client): Promise<void> {
    this.transactions += 1;
    await client.query('DISCARD ALL');
    this.#pass(client);
  }

  #pass(client: Client): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(client);
    else next(client);
  }
}
