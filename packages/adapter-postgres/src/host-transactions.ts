import type { HostTransaction } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { isReadOnlyServer, sqlStateOf, unavailable } from './errors.ts';
import { postgresHolders } from './holders.ts';
import type { PostgresClient } from './pool.ts';
import { postgresPublications } from './publications.ts';
import { type Connection, connectionOn } from './statement.ts';

/**
 * Creates the functions that publish events in transactions of the host application, on its own connections.
 * Only the server knows for certain whether a connection is in a transaction: if the host has not awaited its
 * BEGIN, the driver's state lags behind. So every call begins with a savepoint. The server refuses the
 * savepoint outside of a transaction, and then nothing has happened.
 *
 * A transaction at READ COMMITTED waits for others that publish to the same partner and mode. A transaction
 * at REPEATABLE READ or SERIALIZABLE that comes too late is refused (SQLSTATE 40001 in `cause.code`), and can
 * be tried again from its BEGIN. The events of one call lock their sequences in one order. A host that
 * publishes to several partners in several calls of one transaction should do so in the order of their slugs;
 * otherwise it risks a deadlock, which the server ends (40P01).
 */
export function hostTransactions(database: Database): (transaction: unknown) => HostTransaction {
  const outboxes = new WeakMap<PostgresClient, HostTransaction>();
  const publications = postgresPublications(database);
  const holders = postgresHolders(database);

  function outboxOn(client: PostgresClient): HostTransaction {
    const connection = textOnly(connectionOn(client));
    let isKnown = false;
    let last: Promise<unknown> = Promise.resolve();

    async function inSavepoint<T>(work: () => Promise<T>): Promise<T> {
      await begin(connection);
      try {
        if (!isKnown) await assertSameDatabase(database, connection);
        isKnown = true;
        const result = await work();
        await connection.query('RELEASE SAVEPOINT ostiary_publish', []);
        return result;
      } catch (error) {
        // Roll back to the savepoint, so that nothing is half done even if the host catches the error and
        // goes on.
        await rollBack(connection);
        throw refusalOf(error);
      }
    }

    /**
     * Runs calls one after the other on a host application's connection, because savepoints of calls that the
     * host does not await would mix.
     */
    async function inTurn<T>(work: () => Promise<T>): Promise<T> {
      database.assertOpen();
      const turn = last.then(() => inSavepoint(work));
      last = turn.catch(() => undefined);
      return turn;
    }

    return {
      partnersHolding: ({ sub, scope }) => inTurn(() => holders(connection, { sub, scope })),
      publish: (events) => {
        const rows = events.map((event) => ({ ...event }));
        return inTurn(() => publications.publish(connection, rows));
      },
    };
  }

  return (transaction) => {
    const client = clientOf(transaction);
    database.assertOpen();
    const outbox = outboxes.get(client) ?? outboxOn(client);
    outboxes.set(client, outbox);
    return outbox;
  };
}

/**
 * Wraps a host application's connection so that it refuses rows with values other than text. Statements for
 * such a connection select text only, because an object that the host passes in place of a client may ignore the parsers of a
 * statement and use those of `pg.types`. These read text unchanged, unless the host has replaced even that
 * parser.
 *
 * @throws TypeError if a value is not text
 */
function textOnly(connection: Connection): Connection {
  return {
    async query(text, values, name) {
      const result = await connection.query(text, values, name);
      if (result.rows.every((row) => Object.values(Object(row)).every((value) => typeof value === 'string')))
        return result;
      throw new TypeError(
        'transaction: text does not come as a string: hand the `types` that query is called with on to the driver, or leave text alone in pg.types',
      );
    },
  };
}

async function begin(connection: Connection): Promise<void> {
  try {
    await connection.query('SAVEPOINT ostiary_publish', []);
  } catch (error) {
    if (sqlStateOf(error) !== '25P01') throw unavailable(error);
    throw new TypeError('transaction: the client is in no transaction; begin one first');
  }
}

/**
 * Rolls back to the savepoint. If that fails too, the transaction or the connection is lost, and the host
 * application's own next statement fails.
 */
async function rollBack(connection: Connection): Promise<void> {
  try {
    await connection.query('ROLLBACK TO SAVEPOINT ostiary_publish', []);
    await connection.query('RELEASE SAVEPOINT ostiary_publish', []);
  } catch {
    // The host's next statement will fail and report the lost transaction or connection.
  }
}

function refusalOf(error: unknown): Error {
  if (error instanceof TypeError) return error;
  if (isReadOnlyServer(error)) return new TypeError('transaction: it is read-only', { cause: error });
  return unavailable(error);
}

/**
 * Checks that a host application's connection leads to the storage's database. The storage learned the identity of its
 * database when it was opened, because hosts may hold all connections of the pool when they publish. If the identities
 * differ, it asks again: a database may be replaced while the process runs.
 */
async function assertSameDatabase(database: Database, connection: Connection): Promise<void> {
  const { identity } = database;
  if ((await identity.foreignName(connection)) === null) return;
  await database.read((own) => identity.learn(own));
  const name = await identity.foreignName(connection);
  if (name === null) return;
  throw new TypeError(`transaction: the client is connected to another database than this storage: ${name}`);
}

/**
 * Returns a client of `pg`, recognized by its methods: the host application may have another copy of the
 * driver, with its own class.
 */
function clientOf(value: unknown): PostgresClient {
  if (has(value, 'connect', 'function') && has(value, 'totalCount', 'number')) {
    throw new TypeError('transaction: is a pool; pass the client of pool.connect() that is in a transaction');
  }
  if (isClient(value)) return value;
  throw new TypeError('transaction: has to be a Client of pg that is in a transaction');
}

function isClient(value: unknown): value is PostgresClient {
  return ['query', 'connect', 'escapeLiteral'].every((name) => has(value, name, 'function'));
}

function has(value: unknown, name: string, type: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === type;
}
