import { beforeEach, expect, test } from 'vitest';
import { ConfigError } from '../../src/config-error.ts';
import type { Database } from '../../src/database/database.ts';
import { DatabaseUnavailable, UniqueViolation } from '../../src/database/database.ts';
import { migrate, readMigrations } from '../../src/database/migrations.ts';
import { type Opened, onBothEngines } from '../support/engines.ts';

onBothEngines('the database', (engine) => {
  let opened: Opened;
  let database: Database;

  beforeEach(async () => {
    opened = await engine.open();
    ({ database } = opened);
  });

  const session = (digest: string) => ({ digest: Buffer.from(digest), now: 1 });
  const insert = `INSERT INTO app_throttle (subject, failures, ends_at) VALUES (:digest, 7, :now)`;
  const count = async (queries: Pick<Database, 'get'> = database) =>
    (await queries.get<{ n: number }>('SELECT count(*) AS n FROM app_throttle'))?.n;

  test('is migrated once, by one of several that start together', async () => {
    const { schema } = database;
    if (schema !== null)
      await database.write((transaction) => transaction.script(`DROP SCHEMA ${schema} CASCADE`));
    const others = await Promise.all(Array.from({ length: 5 }, () => opened.again()));
    await Promise.all(others.map((other) => migrate(other, 0)));
    expect(await count()).toBe(0);
    const rows = await database.all<{ number: number }>('SELECT number FROM app_migrations ORDER BY number');
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
  });

  test('is migrated by a later version, and keeps its rows', async () => {
    const shipped = readMigrations(database.schema === null ? 'sqlite' : 'postgres');
    const later = { name: 'notes', sql: 'ALTER TABLE app_throttle ADD COLUMN note TEXT', checksum: 'x' };
    const sql =
      database.schema === null ? later.sql : later.sql.replace('app_throttle', `${database.schema}.throttle`);
    await database.write((transaction) => transaction.run(insert, session('kept')));
    await migrate(database, 0, [...shipped, { ...later, sql }]);
    expect(await database.get('SELECT failures, note FROM app_throttle')).toEqual({
      failures: 7,
      note: null,
    });
    await expect(migrate(database, 0)).rejects.toThrow('belongs to a newer version');
  });

  test('of a newer server is refused, in one line', async () => {
    const future = `INSERT INTO app_migrations (number, name, checksum, applied_at) VALUES (99, 'future', '', 0)`;
    await database.write((transaction) => transaction.run(future));
    await expect(migrate(database, 0)).rejects.toThrow(ConfigError);
    await expect(migrate(database, 0)).rejects.toThrow(/^the database belongs to a newer version[^\n]*$/);
  });

  test('whose migrations were edited is refused', async () => {
    await database.write((transaction) => transaction.run("UPDATE app_migrations SET checksum = 'x'"));
    await expect(migrate(database, 0)).rejects.toThrow('differs from the one that made this database');
  });

  test('has no index that depends on a locale', async () => {
    const { schema } = database;
    // SQLite compares the bytes of texts.
    if (schema === null) return;
    const found = await database.all(
      `SELECT pg_class.relname AS name FROM pg_index
       JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
       JOIN pg_collation ON pg_collation.oid = ANY (indcollation)
       WHERE nspname = :schema AND collname = 'default'`,
      { schema: schema.replaceAll('"', '') },
    );
    expect(found).toEqual([]);
  });

  test('returns stored values unchanged', async () => {
    await database.write((transaction) =>
      transaction.run(insert, { digest: Buffer.from([0, 255]), now: 2 ** 52 }),
    );
    expect(await database.get('SELECT subject, failures, ends_at FROM app_throttle')).toEqual({
      subject: Buffer.from([0, 255]),
      failures: 7,
      ends_at: 2 ** 52,
    });
    expect(
      await database.get('SELECT failures FROM app_throttle WHERE ends_at = :no', { no: 0 }),
    ).toBeUndefined();
  });

  test('rolls back a transaction whose work fails, and does not affect a parallel one', async () => {
    let other: Promise<number> | undefined;
    const failing = database.write(async (transaction) => {
      expect(await transaction.run(insert, session('a'))).toBe(1);
      expect(await count(transaction)).toBe(1);
      // Start the other write only now: on PostgreSQL it might otherwise be committed before this one counts.
      other = database.write((beside) => beside.run(insert, session('b')));
      throw new RangeError('something else');
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(await other).toBe(1);
    expect(await count()).toBe(1);
  });

  test('makes changes visible to others only after the commit', async () => {
    const other = await opened.again();
    const seen = await database.write(async (transaction) => {
      await transaction.run(insert, session('a'));
      // On SQLite, count on the database itself, because the other write waits for this one. On PostgreSQL
      // count on the other transaction.
      return count(engine.name === 'SQLite' ? database : other);
    });
    expect([seen, await count(other)]).toEqual([0, 1]);
  });

  if (engine.name === 'PostgreSQL') {
    test('rolls back a transaction that lost a conflict, with an error that allows a retry', async () => {
      await database.write(async (transaction) => {
        for (const digest of ['a', 'b']) await transaction.run(insert, session(digest));
      });
      const patient = { patienceMs: 30_000 };
      const haveOne = Promise.withResolvers<void>();
      let holding = 0;
      /**
       * Updates one row, waits until another transaction has updated a second row, and then updates the
       * second row, too.
       */
      const take = (on: Database, digests: readonly string[]) =>
        on.write(async (transaction) => {
          for (const digest of digests) {
            const subject = Buffer.from(digest);
            await transaction.run(
              'UPDATE app_throttle SET failures = failures + 1 WHERE subject = :subject',
              {
                subject,
              },
            );
            holding += 1;
            if (holding === 2) haveOne.resolve();
            await haveOne.promise;
          }
        }, patient);
      const ends = await Promise.allSettled([
        take(database, ['a', 'b']),
        take(await opened.again(), ['b', 'a']),
      ]);
      const lost = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      expect(lost).toEqual([expect.any(DatabaseUnavailable)]);
      expect(await database.all('SELECT failures FROM app_throttle')).toEqual([
        { failures: 8 },
        { failures: 8 },
      ]);
    });
  }

  test('names the column of a duplicate value, and has this error only for duplicates', async () => {
    const user = (changes: object) =>
      database.write((transaction) =>
        transaction.run(
          `INSERT INTO app_users (sub, kid, handle, phone, name, role, country, kyc_tier, kyc_status, trust_score,
             trust_tier, password_hash, created_at)
           VALUES (:sub, :kid, :handle, :phone, 'N', 'r', 'HT', :tier, 'pending', 0, 'new', 'h', 0)`,
          { sub: 's1', kid: 'k1', handle: 'Ana', phone: 'p1', tier: 0, ...changes },
        ),
      );
    await user({});
    const second = { sub: 's2', kid: 'k2', handle: 'Bea', phone: 'p2' };
    for (const [column, value] of Object.entries({ kid: 'k1', handle: 'aNA', phone: 'p1' })) {
      const error = await user({ ...second, [column]: value }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UniqueViolation);
      expect(error).toMatchObject({ column });
    }
    const wrong = await user({ ...second, tier: 9 }).catch((thrown: unknown) => thrown);
    expect(wrong).toBeInstanceOf(Error);
    expect(wrong).not.toBeInstanceOf(UniqueViolation);
    expect(wrong).not.toBeInstanceOf(DatabaseUnavailable);
  });

  test('guards the ledger in the database: postings cannot be changed, deleted or overdrawn', async () => {
    await database.write(async (transaction) => {
      await transaction.run("INSERT INTO app_movements VALUES ('m', 'opening', 'HTG', 0)");
      await transaction.run(
        "INSERT INTO app_accounts (kind, owner, currency, balance) VALUES ('external', '', 'HTG', 0), ('user', 'u', 'HTG', 5)",
      );
      await transaction.run(
        "INSERT INTO app_postings SELECT 'm', id, 5 FROM app_accounts WHERE kind = 'user'",
      );
    });
    for (const [sql, reason] of [
      ['UPDATE app_postings SET amount = 1', /never/],
      ['DELETE FROM app_postings', /never/],
      ['DELETE FROM app_movements', /foreign key/i],
      ["UPDATE app_accounts SET balance = -1 WHERE kind = 'user'", /constraint/i],
    ] as const)
      await expect(database.write((transaction) => transaction.run(sql))).rejects.toThrow(reason);
  });

  test('that was closed says so in a way that Ostiary answers with 503', async () => {
    const other = await opened.again();
    await other.close();
    const unavailable = { code: 'STORAGE_UNAVAILABLE' };
    await expect(other.ping()).rejects.toMatchObject(unavailable);
    await expect(other.get('SELECT 1')).rejects.toMatchObject(unavailable);
    await expect(other.write((transaction) => transaction.get('SELECT 1'))).rejects.toMatchObject(
      unavailable,
    );
    await database.ping();
  });
});
