import type { HostTransaction, NewEvent } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { unavailable } from './errors.ts';
import { fileGuard, isSameFile, openedFile, statOf } from './file-guard.ts';
import { holdersOn } from './holders.ts';
import { publicationsOn } from './publications.ts';

/**
 * Creates the functions that publish events in transactions of the host application, on its own connections.
 * Prepared statements are kept as long as their connection. The file of each connection is compared with the
 * storage's file at the connection's first use.
 */
export function hostTransactions(database: Database): (transaction: unknown) => HostTransaction {
  const prepared = new WeakMap<Connection, HostTransaction>();

  return (transaction) => {
    const connection = assertTransaction(transaction);
    const known = prepared.get(connection);
    if (known !== undefined) return known;
    database.assertFileInPlace();
    assertSameFile(connection, database.connection());
    const outbox = outboxOn(connection);
    prepared.set(connection, outbox);
    return outbox;
  };
}

function outboxOn(connection: Connection): HostTransaction {
  const publications = publicationsOn(connection);
  const holders = holdersOn(connection);
  const assertFileInPlace = fileGuard(connection);
  // With a savepoint, so that nothing is half done even if the host catches the error and goes on.
  const publish = connection.transaction((events: readonly NewEvent[]) => publications.publish(events));

  /**
   * Runs a function after checking that the host application's connection is in a transaction. The check is
   * made on every call, because outside of a transaction each statement would commit by itself.
   */
  function inTransaction<T>(work: () => T): T {
    assertTransaction(connection);
    try {
      assertFileInPlace();
      return work();
    } catch (error) {
      throw unavailable(error);
    }
  }

  return {
    partnersHolding: ({ sub, scope }) => inTransaction(() => holders({ sub, scope })),
    publish: (events) => inTransaction(() => publish(events)),
  };
}

/** Throws unless the value is an open, writable better-sqlite3 handle of a file that is in a transaction. */
function assertTransaction(transaction: unknown): Connection {
  if (!isHandle(transaction)) {
    throw new TypeError('transaction: has to be a Database of better-sqlite3 that is in a transaction');
  }
  if (!transaction.open) throw new TypeError('transaction: the database handle is closed');
  if (transaction.memory) {
    throw new TypeError('transaction: the handle is a database in memory, not the file of this storage');
  }
  if (transaction.readonly) throw new TypeError('transaction: the database handle is read-only');
  if (!transaction.inTransaction) {
    throw new TypeError('transaction: the database handle is in no transaction; begin one first');
  }
  return transaction;
}

/**
 * Recognizes a better-sqlite3 handle by its methods: the host application may have another copy of the
 * driver, with its own class.
 */
function isHandle(value: unknown): value is Connection {
  if (typeof value !== 'object' || value === null) return false;
  const has = (name: string, type: string) => typeof Reflect.get(value, name) === type;
  return (
    has('prepare', 'function') &&
    has('pragma', 'function') &&
    ['open', 'memory', 'readonly', 'inTransaction'].every((name) => has(name, 'boolean'))
  );
}

/**
 * Throws unless two connections have opened the same file. Compares the files, not their paths, which can be
 * relative or symbolic links.
 */
function assertSameFile(connection: Connection, ours: Connection): void {
  if (ours.memory)
    throw new TypeError('transaction: a storage in memory takes part in no transaction of a host');
  const [theirFile, ourFile] = [connection, ours].map((handle) => statOf(openedFile(handle)));
  if (theirFile !== undefined && ourFile !== undefined && isSameFile(theirFile, ourFile)) return;
  throw new TypeError(
    `transaction: the handle has opened another file than this storage: ${openedFile(connection)}`,
  );
}
