import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { certificate, privateKey } from '../../../examples/reference-server/test/support/certificates.ts';
import { findPostgres, owner, startSystemServer } from '../../../lab/support/postgres/system-postgres.ts';
import { type BackupDatabase, type BackupSource, backupCommand } from '../src/backup/index.ts';
import { environmentOf } from '../src/backup/postgres.ts';
import { backupSqlite } from '../src/backup/sqlite.ts';
import { terminal } from './support.ts';

const folder = await mkdtemp(join(tmpdir(), 'backup-'));
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
const nextFile = (): string => {
  files += 1;
  return join(folder, `${files}.sqlite`);
};

/**
 * Creates a database that is in use: its writer stays open, and some pages are only in the write-ahead log.
 */
function inUse() {
  const file = nextFile();
  const writer = new Sqlite(file);
  onTestFinished(() => void writer.close());
  writer.pragma('journal_mode = WAL');
  writer.exec('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE "odd ""name" (x)');
  const insert = writer.prepare('INSERT INTO users (name) VALUES (?)');
  writer.transaction(() => {
    for (let row = 0; row < 2_000; row += 1) insert.run('x'.repeat(5_000));
  })();
  return { file, insert, writer };
}

const open = (file: string): BackupDatabase => new Sqlite(file, { fileMustExist: true });

const { run } = await terminal();

async function backup(source: BackupSource, file: string, flags = '') {
  const commands = { backup: backupCommand({ find: async () => source, openFile: open }) };
  return run(`backup --file ${file} ${flags}`, { commands });
}

describe('ostiary backup on SQLite', () => {
  it('saves all of a database that is in use, as one file of its own, and says its digest', async () => {
    const { file } = inUse();
    const to = nextFile();
    const { code, out, err } = await backup({ engine: 'sqlite', file }, to);
    expect([code, err]).toEqual([0, expect.stringContaining('sealing keys are not in it')]);
    expect(out).toMatch(/^tables +2$/m);
    expect(out).toMatch(/^rows +2000$/m);
    const digest = createHash('sha256')
      .update(await readFile(to))
      .digest('hex');
    expect(out).toContain(digest);
    expect((await stat(to)).mode & 0o777).toBe(0o600);
    const beside = (await readdir(folder)).filter((name) => name.startsWith(`${files}.`));
    expect(beside).toEqual([`${files}.sqlite`]);
    const copy = new Sqlite(to, { readonly: true });
    expect(copy.prepare('SELECT count(*) FROM users').pluck().get()).toBe(2_000);
    // Reading the backup creates no files beside it.
    expect(copy.pragma('journal_mode', { simple: true })).toBe('delete');
    copy.close();
    const json = await backup({ engine: 'sqlite', file }, nextFile(), '--json');
    expect(json.json()).toMatchObject({ engine: 'sqlite', tables: { users: 2_000, 'odd "name': 0 } });
  });

  it('leaves nothing behind if a signal ends it, not even the journal of SQLite', async () => {
    const { file } = inUse();
    const to = await mkdtemp(join(folder, 'interrupted-'));
    const script = `
      import Sqlite from 'better-sqlite3';
      import { backupCommand } from '../src/backup/index.ts';
      const openFile = (file) => new Sqlite(file, { fileMustExist: true });
      const find = async () => ({ engine: 'sqlite', file: process.argv[1] });
      const progress = ({ done }) => void (done > 0 && process.kill(process.pid, 'SIGTERM'));
      await backupCommand({ find, openFile }).run({ required: () => process.argv[2] }, { progress });`;
    const flags = ['--conditions=ostiary-source', '--input-type=module', '--eval', script];
    const child = spawn(process.execPath, [...flags, file, join(to, 'saved')], { cwd: import.meta.dirname });
    expect(await once(child, 'close')).toEqual([null, 'SIGTERM']);
    expect(await readdir(to)).toEqual([]);
  });

  it('is a snapshot of one moment, and does not restart during many writes', async () => {
    const { file, insert } = inUse();
    const from = open(file);
    const done: number[] = [];
    const to = nextFile();
    const counts = await backupSqlite(from, { file: to, open }, (step) => {
      if (step.step === 'verifying') return;
      done.push(step.done);
      for (let row = 0; row < 50; row += 1) insert.run('later');
    });
    from.close();
    expect(counts.get('users')).toBe(2_000);
    expect(done.length).toBeGreaterThan(2);
    expect(done).toEqual(done.toSorted((one, other) => one - other));
    const copy = new Sqlite(to, { readonly: true });
    expect(copy.prepare("SELECT count(*) FROM users WHERE name = 'later'").pluck().get()).toBe(0);
    copy.close();
  });

  it.each([
    [
      'rows are missing',
      (copy: Sqlite.Database) => copy.exec('DELETE FROM users WHERE id = 1'),
      'has 1999 rows of users',
    ],
    ['a table is missing', (copy: Sqlite.Database) => copy.exec('DROP TABLE users'), 'has no rows of users'],
    [
      'a value is one that cannot be',
      (copy: Sqlite.Database) => {
        copy.unsafeMode().exec(`UPDATE users SET name = NULL WHERE id = 1; PRAGMA writable_schema = ON;
          UPDATE sqlite_schema SET sql = replace(sql, 'TEXT', 'TEXT NOT NULL'); PRAGMA writable_schema = RESET`);
      },
      'the copy is damaged: NULL value in users.name',
    ],
  ])('keeps no copy in which %s', async (_, damage, words) => {
    const { file } = inUse();
    const to = nextFile();
    const opened: Sqlite.Database[] = [];
    const openFile = (name: string): BackupDatabase => {
      const database = new Sqlite(name, { fileMustExist: true });
      opened.push(database);
      if (name !== file) damage(database);
      return database;
    };
    const find = async () => ({ engine: 'sqlite', file }) as const;
    const commands = { backup: backupCommand({ find, openFile }) };
    const { code, err } = await run(`backup --file ${to}`, { commands });
    expect([code, err]).toEqual([1, expect.stringContaining(words)]);
    expect(opened.map(({ open }) => open)).toEqual([false, false]);
    expect(await readdir(folder)).not.toContain(`${files}.sqlite`);
  });

  it('never overwrites a file', async () => {
    const { file } = inUse();
    const told = await backup({ engine: 'sqlite', file }, file);
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining('already; name another one') });
  });
});

/** Puts fake programs of PostgreSQL into a folder, which becomes the whole PATH except for the shell. */
function programs(scripts: Readonly<Record<string, string>>): void {
  const bin = join(folder, `bin-${files}`);
  mkdirSync(bin);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('PATH', bin);
}

const url = 'postgres://an%40a:p%40ss@db.internal:6432/osti%20ary?sslmode=require&application_name=x';
const source = { engine: 'postgresql', url } as const;
const list =
  "echo '; Archive'; echo '215; 0 16390 TABLE DATA ostiary partners ostiary'; echo '216; 0 1 TABLE DATA app users x'";
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is for the shell.
const file = '/bin/echo "$PGHOST $PGPORT $PGUSER $PGPASSWORD $PGDATABASE $PGSSLMODE $*" > "${2#--file=}"';

describe('ostiary backup on PostgreSQL', () => {
  it('runs pg_dump, and reads the dump again; no argument holds the password', async () => {
    const to = nextFile();
    programs({ pg_dump: file, pg_restore: list });
    const { code, out } = await backup(source, to, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ engine: 'postgresql', tables: 2, file: to });
    const [settings = '', args] = (await readFile(to, 'utf8')).split(' --format=');
    expect(settings).toBe('db.internal 6432 an@a p@ss osti ary verify-full');
    expect(args).toMatch(/^custom --file=\S+\.unfinished --no-password\n$/);
  });

  it.each([
    ['there is no pg_dump', { pg_restore: list }, 'pg_dump is not on this machine: install'],
    ['there is no pg_restore', { pg_dump: file }, 'pg_restore is not on this machine: install'],
    [
      'pg_dump fails',
      { pg_dump: 'echo "no password supplied" >&2; exit 1', pg_restore: list },
      'pg_dump failed: no password supplied',
    ],
    ['the dump cannot be read', { pg_dump: file, pg_restore: 'exit 3' }, 'pg_restore failed: exit code 3'],
    [
      'the dump is empty',
      { pg_dump: file, pg_restore: 'echo ";"' },
      'there are no tables in what pg_dump has written',
    ],
  ])('keeps nothing where %s', async (_, scripts, words) => {
    const to = nextFile();
    programs(scripts);
    const told = await backup(source, to);
    expect(told).toMatchObject({ code: 1, out: '', err: `${words}${told.err.slice(words.length)}` });
    expect((await readdir(folder)).filter((name) => name.startsWith(`${files}.`))).toEqual([]);
  });

  it('reads hosts and parameters from the URL', () => {
    expect(environmentOf('postgresql:///app?host=/run/postgresql&user=ana')).toEqual({
      ...{ PGHOST: '/run/postgresql', PGUSER: 'ana', PGDATABASE: 'app' },
    });
    expect(environmentOf('postgres://[::1]:5433/app')).toMatchObject({ PGHOST: '::1', PGPORT: '5433' });
  });

  it('finds the primary among several hosts, like servers', () => {
    expect(environmentOf('postgres://ana:p%2C%40@db-1:5433,[::1],db-3:5434/app?sslmode=require')).toEqual({
      ...{ PGHOST: 'db-1,::1,db-3', PGPORT: '5433,,5434', PGTARGETSESSIONATTRS: 'read-write' },
      ...{ PGUSER: 'ana', PGPASSWORD: 'p,@', PGDATABASE: 'app', PGSSLMODE: 'verify-full' },
    });
    const { PGHOST, PGPORT } = environmentOf('postgres://db-1,db-2/app');
    expect([PGHOST, PGPORT]).toEqual(['db-1,db-2', undefined]);
  });

  it.each([
    ['', undefined],
    ['?sslmode=disable', 'disable'],
    ['?sslmode=require', 'verify-full'],
    ['?sslmode=prefer', 'verify-full'],
    ['?sslmode=verify-ca', 'verify-full'],
    ['?sslmode=no-verify', 'require'],
    ['?sslmode=require&uselibpqcompat=true', 'require'],
    ['?sslrootcert=/ca.pem', 'verify-full'],
    ['?ssl=true', 'verify-full'],
    ['?ssl=0', 'disable'],
  ])('is as strict about TLS as the driver of servers: %j', (parameters, mode) => {
    expect(environmentOf(`postgres://db/app${parameters}`).PGSSLMODE).toBe(mode);
  });

  it('takes the TLS mode from the environment, like servers', () => {
    expect(environmentOf('postgres://db/app', 'require').PGSSLMODE).toBe('verify-full');
    expect(environmentOf('postgres://db/app', 'no-verify').PGSSLMODE).toBe('require');
    expect(environmentOf('postgres://db/app?sslmode=disable', 'require').PGSSLMODE).toBe('disable');
  });

  const installed = findPostgres();
  it.skipIf(installed === null)(
    'saves a real database over TLS whose authority Node alone knows, and none whose authority nobody knows',
    async () => {
      const server = await startSystemServer(installed ?? '');
      onTestFinished(() => server.remove());
      vi.stubEnv('PATH', [installed, process.env.PATH].join(delimiter));
      onTestFinished(() => void vi.unstubAllEnvs());
      const tls = await mkdtemp(join(tmpdir(), 'backup-tls-'));
      onTestFinished(() => rm(tls, { recursive: true }));
      const files = { cert: join(tls, 'server.pem'), key: join(tls, 'server.key') };
      writeFileSync(files.cert, certificate);
      writeFileSync(files.key, privateKey, { mode: 0o600 });
      const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, ...owner() };
      chmodSync(tls, 0o755);
      chownSync(files.key, uid, gid);
      const superuser = new Client({ connectionString: server.url('app').replace('ostiary@', 'postgres@') });
      await superuser.connect();
      await superuser.query('CREATE TABLE kept (id int)');
      await superuser.query(`ALTER SYSTEM SET ssl_cert_file = '${files.cert}'`);
      await superuser.query(`ALTER SYSTEM SET ssl_key_file = '${files.key}'`);
      await superuser.query('ALTER SYSTEM SET ssl = on');
      await superuser.query('SELECT pg_reload_conf()');
      await superuser.end();

      const strict = `${server.url('app').replace('ostiary@', 'postgres@')}?sslmode=verify-full`;
      const known = await backup({ engine: 'postgresql', url: strict }, nextFile());
      expect(known).toMatchObject({ code: 1, err: expect.stringContaining('certificate verify failed') });
      const before = getCACertificates('default');
      onTestFinished(() => setDefaultCACertificates(before));
      setDefaultCACertificates([...before, certificate]);
      const driver = new Client({ connectionString: strict });
      await driver.connect();
      await driver.end();
      const saved = await backup({ engine: 'postgresql', url: strict }, nextFile());
      expect(saved).toMatchObject({ code: 0, out: expect.stringContaining('tables') });
      // A certificate file that the URL names is used instead of Node's authorities.
      setDefaultCACertificates(before);
      const named = await backup(
        { engine: 'postgresql', url: `${strict}&sslrootcert=${files.cert}` },
        nextFile(),
      );
      expect(named.code).toBe(0);
    },
    60_000,
  );

  it.skipIf(installed === null)(
    'saves a real database',
    async () => {
      const server = await startSystemServer(installed ?? '');
      onTestFinished(() => void vi.unstubAllEnvs());
      try {
        vi.stubEnv('PATH', `${installed}${delimiter}${process.env.PATH}`);
        const { Client } = await import('pg');
        const client = new Client({ connectionString: server.url('app') });
        await client.connect();
        await client.query('CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id');
        await client.end();
        const to = nextFile();
        // The first of the two hosts does not respond.
        const url = server.url('app').replace(/@([^/]+)/, '@127.0.0.1:1,$1');
        const { code, out } = await backup({ engine: 'postgresql', url }, to);
        expect(code).toBe(0);
        expect(out).toMatch(/^tables +1$/m);
      } finally {
        await server.remove();
      }
    },
    60_000,
  );
});
