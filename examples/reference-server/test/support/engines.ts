import { join } from 'node:path';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrations.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { openSqlite } from '../../src/database/sqlite.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { temporaryFolder } from './server.ts';

/** A database for one test. */
export interface Opened {
  readonly database: Database;
  /** Opens the same database a second time, as another process would. */
  again(): Promise<Database>;
}

/** A database engine on which the same test cases run. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  open(): Promise<Opened>;
}

async function opened(connect: () => Promise<Database>): Promise<Opened> {
  const again = async (): Promise<Database> => {
    const database = await connect();
    onTestFinished(() => database.close());
    return database;
  };
  const database = await again();
  await migrate(database, 0);
  return { database, again };
}

const sqlite: Engine = {
  name: 'SQLite',
  async open() {
    const file = join(await temporaryFolder(), 'test.sqlite');
    return opened(() => openSqlite(file));
  },
};

/** Runs the same test cases on an SQLite file and on a real PostgreSQL. */
export function onBothEngines(title: string, cases: (engine: Engine) => void): void {
  describe(`${title} on SQLite`, () => cases(sqlite));
  describe(`${title} on PostgreSQL`, () => {
    let server: PostgresServer | undefined;
    let last = 0;
    beforeAll(async () => {
      server = await startPostgres();
    }, 120_000);
    afterAll(() => server?.remove(), 60_000);
    cases({
      name: 'PostgreSQL',
      async open() {
        last += 1;
        const url = (await server?.createDatabase(`test_${last}`)) ?? '';
        return opened(async () => openPostgres(url, 10));
      },
    });
  });
}
