import { randomBytes } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { readPostgresSettings, unsafeSettings } from '../operations/durability.ts';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, problem } = findingsOf('database');
const atomicity = findingsOf('atomicity');

/** Connections that an operator, a backup and a dashboard need beside the servers. */
const spareConnections = 5;

async function checkPostgres({ database, nodes }: Examined): Promise<readonly Finding[]> {
  const settings = await readPostgresSettings(database);
  if (settings === null) return [];
  const found: Finding[] = [];
  const major = Math.floor(settings.version / 10_000);
  const unsafe = unsafeSettings(settings);
  if (unsafe.length > 0) {
    found.push(
      problem(
        `PostgreSQL runs with ${unsafe.join(', ')}`,
        'What was answered is lost, or the database broken, when the power fails.',
        'Turn it on in postgresql.conf, or have whoever runs the database turn it on.',
      ),
    );
  }
  if (major < 15 || settings.encoding !== 'UTF8') {
    found.push(
      problem(
        `PostgreSQL ${major}, encoding ${settings.encoding}`,
        'It needs PostgreSQL 15 or later, and a database in UTF8.',
        'Move to such a database with pg_dump.',
      ),
    );
  }
  if (settings.is_replica) {
    found.push(
      problem(
        'the database is a replica that takes no writes',
        'Every request that writes fails.',
        'Let DATABASE_URL lead to the primary.',
      ),
    );
  }
  const wanted = nodes.reduce((sum, { facts }) => sum + facts.databasePool, spareConnections);
  if (wanted > settings.max_connections) {
    found.push(
      warning(
        `all processes together may open ${wanted} connections, of ${settings.max_connections}`,
        'Under load some of them get none. With a pooler in between, ignore this.',
        'Lower OSTIARY_DATABASE_POOL, raise max_connections, or put a pooler in between.',
      ),
    );
  }
  return found.length > 0 ? found : [ok(`PostgreSQL ${major}, commits survive a power cut`)];
}

async function checkSqlite(database: Database): Promise<readonly Finding[]> {
  const [mode, sync] = await database.write(async (transaction) => {
    const journal = await transaction.get<{ journal_mode: string }>('PRAGMA journal_mode');
    const synchronous = await transaction.get<{ synchronous: number }>('PRAGMA synchronous');
    return [journal?.journal_mode, synchronous?.synchronous];
  });
  return [
    mode === 'wal' && sync === 2
      ? ok('SQLite, commits survive a power cut')
      : problem(
          `SQLite runs with journal_mode=${mode}, synchronous=${sync}`,
          'What was answered can be lost when the power fails.',
          'Keep the file on a local disk; nothing else may change its journal mode.',
        ),
  ];
}

/** Whether what was committed stays committed. */
export function checkDatabase(examined: Examined): Promise<readonly Finding[]> {
  return examined.database.schema === null ? checkSqlite(examined.database) : checkPostgres(examined);
}

const racers = 8;

/** Lets several writers want one row at once. Money, codes and deliveries rest on exactly one of them getting it. */
export async function checkAtomicity({ database, now }: Examined): Promise<readonly Finding[]> {
  const id = `doctor_${randomBytes(9).toString('hex')}`;
  const at = now();
  await database.write((transaction) =>
    transaction.run(
      "INSERT INTO app_nodes (id, role, facts, started_at, seen_at) VALUES (:id, 'scratch', '{}', :at, :at)",
      { id, at },
    ),
  );
  try {
    const race = (): Promise<number> =>
      database.write((transaction) =>
        transaction.run("UPDATE app_nodes SET role = 'won' WHERE id = :id AND role = 'scratch'", { id }),
      );
    const results = await Promise.all(Array.from({ length: racers }, race));
    const winners = results.filter((changed) => changed === 1).length;
    return [
      winners === 1
        ? atomicity.ok(`${racers} writers wanted one row, and one got it`)
        : atomicity.problem(
            `${winners} of ${racers} writers got a row that one may get`,
            'Codes can be used twice, and money paid twice.',
            'Take the servers down. Use an unmodified PostgreSQL or SQLite; look for triggers, and a pooler that is none.',
          ),
    ];
  } finally {
    await database.write((transaction) => transaction.run('DELETE FROM app_nodes WHERE id = :id', { id }));
  }
}
