import { type Connection, statement } from './statement.ts';

/** Name of a database, and a text that no other database has. */
interface Identity {
  readonly name: string;
  readonly identity: string;
}

/**
 * Creates the function that identifies the database to which a connection leads. Compares what connections see, not how they
 * connect: hosts and pools can have many names.
 *
 * @param schema - quoted name of the schema
 */
export function identification(schema: string): (connection: Connection) => Promise<Identity> {
  const identify = statement<object, Identity>(`
    SELECT datname::text AS name, concat_ws(
      ' ',
      (SELECT system_identifier FROM pg_control_system()),
      oid,
      coalesce(to_regclass('${schema}.schema_migrations')::oid, 0)
    ) AS identity
    FROM pg_database WHERE datname = current_database()
  `);
  return async (connection) => {
    const found = await identify.get(connection, {});
    if (found === undefined) throw new Error('pg_database has no row of the current database');
    return found;
  };
}
