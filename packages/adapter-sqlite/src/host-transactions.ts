import type { HostTransaction, NewEvent } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { unavailable } from './errors.ts';
import { fileGuard, isSameFile, openedFile, statOf } from './file-guard.ts';
import { holdersOn } from './holders.ts';
import { publicationsOn } from './publications.ts';

/**
 * Returns the outbox on a connection of the host. Statements are kept as long as their connection is, and the file of a
 * connection is compared with ours at its first use.
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
  // A savepoint: all of it or nothing, even when the host catches the error and goes on.
  const publish = connection.transaction((events: readonly NewEvent[]) => publications.publish(events));

  /** Check at every call, because outside a transaction each statement would be a transaction of its own. */
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

/** Throws unless this is an open better-sqlite3 handle that can write a file and is in a transaction. */
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

/** By its shape: the host may have another copy of the driver, whose class is not ours. */
function isHandle(value: unknown): value is Connection {
  if (typeof value !== 'object' || value === null) return false;
  const has = (name: string, type: string) => typeof Reflect.get(value, name) === type;
  return (
    has('prepare', 'function') &&
    has('pragma', 'function') &&
    ['open', 'memory', 'readonly', 'inTransaction'].every((name) => has(name, 'boolean'))
  );
}

/** Compares what the two have opened, not how they call it: paths can be relative, or links. */
function assertSameFile(connection: Connection, ours: Connection): void {
  if (ours.memory)
    throw new TypeError('transaction: a storage in memory takes part in no transaction of a host');
  const [theirFile, ourFile] = [connection, ours].map((handle) => statOf(openedFile(handle)));
  if (theirFile !== undefined && ourFile !== undefined && isSameFile(theirFile, ourFile)) return;
  throw new TypeError(
    `transaction: the handle has opened another file than this storage: ${openedFile(connection)}`,
  );
}
