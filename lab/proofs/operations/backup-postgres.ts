import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { readBooks } from '../../../examples/demo/src/cluster/audit.ts';
import { findPostgres, startSystemServer } from '../../support/postgres/system-postgres.ts';
import { partner } from '../mix.ts';
import type { Source } from './backup.ts';

const run = promisify(execFile);

async function countRows(client: Client): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT schemaname || '.' || quote_ident(tablename) AS name FROM pg_tables
     WHERE schemaname IN ('ostiary', 'app') ORDER BY 1`,
  );
  const counts = new Map<string, number>();
  for (const { name } of rows) {
    const counted = await client.query<{ count: string }>(`SELECT count(*) FROM ${name}`);
    counts.set(name, Number(counted.rows[0]?.count));
  }
  return counts;
}

async function connected<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Dumps at a moment that is known, so that rows can be counted at the same one. @returns the rows of that moment */
function dump(tools: string, url: string, file: string): Promise<ReadonlyMap<string, number>> {
  return connected(url, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
    const flags = ['--format=custom', `--snapshot=${rows[0]?.snapshot}`, `--file=${file}`];
    await run(join(tools, 'pg_dump'), [...flags, `--dbname=${url}`]);
    return countRows(client);
  });
}

/** The PostgreSQL of this machine, which has `pg_dump`; `null` where there is none. */
export async function postgresSource(ends: AsyncDisposableStack): Promise<Source | null> {
  const tools = findPostgres();
  if (tools === null) return null;
  const server = await startSystemServer(tools);
  ends.defer(() => server.remove());
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-backup-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const target = server.url('rail');
  return {
    name: `backup with pg_dump (${tools})`,
    size: { webs: 1, workers: 1 },
    store: { DATABASE_URL: server.url('app') },
    async copy() {
      const file = join(folder, 'ostiary.dump');
      const wanted = await dump(tools, server.url('app'), file);
      const flags = ['--no-owner', '--exit-on-error', `--dbname=${target}`];
      await run(join(tools, 'pg_restore'), [...flags, file]);
      const restored = await connected(target, countRows);
      const different = [...new Set([...wanted.keys(), ...restored.keys()])].filter(
        (name) => wanted.get(name) !== restored.get(name),
      );
      return {
        store: { DATABASE_URL: target },
        problems: different.map((name) => `${name} has ${restored.get(name)} rows, not ${wanted.get(name)}`),
      };
    },
    disorders: async () => (await readBooks(target, partner)).disorders,
  };
}
