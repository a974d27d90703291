import { Client } from 'pg';
import type { PostgresClient, PostgresPool, PostgresPoolClient } from '../src/index.ts';

/**
 * A pool as strict as a pooler in transaction mode can be: whoever connects gets a connection for each transaction,
 * always another one, and `DISCARD ALL` runs after it.
 */
export class TransactionPool implements PostgresPool {
  readonly #free: Client[] = [];
  readonly #waiting: ((client: Client) => void)[] = [];
  readonly #all: Client[] = [];
  /** How many transactions there were. */
  transactions = 0;

  static async open(connectionString: string, size: number): Promise<TransactionPool> {
    const pool = new TransactionPool();
    for (let index = 0; index < size; index += 1) {
      const client = new Client({ connectionString });
      await client.connect();
      pool.#all.push(client);
      pool.#free.push(client);
    }
    return pool;
  }

  async connect(): Promise<PostgresPoolClient> {
    let current: Client | null = null;
    const query: PostgresClient['query'] = async ({ values, ...statement }) => {
      current ??= await this.#take();
      const client = current;
      try {
        return await client.query({ ...statement, values: [...(values ?? [])] });
      } finally {
        if (client.getTransactionStatus() === 'I') {
          current = null;
          await this.#giveBack(client);
        }
      }
    };
    return {
      query,
      release: () => {
        if (current !== null) throw new Error('released inside a transaction');
      },
    };
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((client) => client.end()));
  }

  async #take(): Promise<Client> {
    return this.#free.shift() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }

  async #giveBack(client: Client): Promise<void> {
    this.transactions += 1;
    await client.query('DISCARD ALL');
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(client);
    else next(client);
  }
}
