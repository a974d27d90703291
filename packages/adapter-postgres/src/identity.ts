import { type Connection, type Statement, statement } from './statement.ts';

/**
 * Recognizes the storage's database on any connection. Compares what connections see, not how they connect: hosts and pools
 * can have many names.
 */
export class Identity {
  readonly #read: Statement<object, { readonly name: string; readonly identity: string }>;
  #own: string | null = null;

  /** @param schema - quoted name of the schema */
  constructor(schema: string) {
    this.#read = statement(`
      SELECT datname::text AS name, concat_ws(
        ' ',
        (SELECT system_identifier FROM pg_control_system()),
        oid,
        coalesce(to_regclass('${schema}.schema_migrations')::oid, 0)
      ) AS identity
      FROM pg_database WHERE datname = current_database()
    `);
  }

  /** Remembers the database to which a connection of the storage leads. */
  async learn(own: Connection): Promise<void> {
    this.#own = (await this.#read.get(own, {}))?.identity ?? null;
  }

  /** Returns the name of the database to which a connection leads, or `null` if it is the storage's. */
  async foreignName(connection: Connection): Promise<string | null> {
    const found = await this.#read.get(connection, {});
    return found?.identity === this.#own ? null : (found?.name ?? '');
  }
}
