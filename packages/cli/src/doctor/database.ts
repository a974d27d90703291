import { readPostgresSettings, unsafeSettings } from './durability.ts';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, problem } = findingsOf('database');
const atomicity = findingsOf('atomicity');

/** Connections that an operator, a backup and a dashboard need beside the servers. */
const spareConnections = 5;

async function checkPostgres({ database, nodes }: Examined): Promise<readonly Finding[]> {
  const settings = await readPostgresSettings(database);
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
        'Let {databaseUrl} lead to the primary.',
      ),
    );
  }
  const wanted = (nodes ?? []).reduce((sum, { facts }) => sum + facts.databasePool, spareConnections);
  if (wanted > settings.max_connections) {
    found.push(
      warning(
        `all processes together may open ${wanted} connections, of ${settings.max_connections}`,
        'Under load some of them get none. With a pooler in between, ignore this.',
        'Lower {databasePool}, raise max_connections, or put a pooler in between.',
      ),
    );
  }
  return found.length > 0 ? found : [ok(`PostgreSQL ${major}, commits survive a power cut`)];
}

async function checkSqlite({ database }: Examined): Promise<readonly Finding[]> {
  const [journal] = await database.query<{ journal_mode: string }>('PRAGMA journal_mode');
  return [
    journal?.journal_mode === 'wal'
      ? ok('SQLite, commits survive a power cut')
      : problem(
          `SQLite runs with journal_mode=${journal?.journal_mode}`,
          'What was answered can be lost when the power fails.',
          'Keep the file on a local disk; nothing else may change its journal mode.',
        ),
  ];
}

/** Whether what was committed stays committed. */
export function checkDatabase(examined: Examined): Promise<readonly Finding[]> {
  return examined.database.engine === 'sqlite' ? checkSqlite(examined) : checkPostgres(examined);
}

/** Whether exactly one of several writers gets what one may get. Money, codes and deliveries rest on it. */
export async function checkAtomicity({ database }: Examined): Promise<readonly Finding[]> {
  const winners = await database.race?.();
  if (winners === undefined) return [];
  return [
    winners === 1
      ? atomicity.ok('eight writers wanted one row, and one got it')
      : atomicity.problem(
          `${winners} of eight writers got a row that one may get`,
          'Codes can be used twice, and money paid twice.',
          'Take the servers down. Use an unmodified PostgreSQL or SQLite; look for triggers, and a pooler that is none.',
        ),
  ];
}
