import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { tlsFiles, turnTlsOn } from '../../../lab/support/postgres/tls.ts';
import { postgresPool, postgresStorage } from '../src/index.ts';
import { serverForTests } from './server.ts';

const page = readFileSync(new URL('../../../docs/postgresql.md', import.meta.url), 'utf8');

/** Returns the rows of the table behind a comment of the page, as texts without formatting. */
function rowsBehind(comment: string): string[][] {
  const table = page.split(`<!-- ${comment}`)[1]?.split('<!-- /')[0] ?? '';
  const lines = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

const server = serverForTests();
const trusted = getCACertificates('default');
/** Warnings of this process, of which `pg` prints one about the meaning of `sslmode`. */
const warned = once(process, 'warning');

let folder: string;
let files: ReturnType<typeof tlsFiles>;
const trust = (...more: readonly string[]) => setDefaultCACertificates([...trusted, ...more]);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ostiary-tls-'));
  files = tlsFiles(folder);
});

afterAll(() => {
  trust();
  rmSync(folder, { recursive: true });
});

/**
 * Connects to the server under a host name. The certificate of the server contains `localhost`, and not
 * `127.0.0.1`. @returns whether the connection is encrypted
 */
async function isEncrypted(parameters: string, host = 'localhost'): Promise<boolean> {
  const connectionString = `postgres://postgres:postgres@${host}:${server.port}/postgres${parameters && `?${parameters}`}`;
  const pool = postgresPool({ connectionString, max: 1 });
  try {
    const client = await pool.connect();
    const { rows } = await client.query({ text: 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()' });
    client.release();
    return Reflect.get(Object(rows[0]), 'ssl') === true;
  } finally {
    await pool.end();
  }
}

/** Error for a server that sends the certificate of an unknown CA together with its own certificate. */
const ofWholeChain = 'self-signed certificate in certificate chain';

/** Returns `yes` if the driver refuses the connection, and `no` if the driver accepts the connection. */
const isRefused = (connection: Promise<boolean>) =>
  connection.then(
    () => 'no',
    () => 'yes',
  );

test.each(['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'])(
  'a server without TLS is refused with sslmode=%s',
  async (mode) => {
    await expect(isEncrypted(`sslmode=${mode}`)).rejects.toThrow(
      'The server does not support SSL connections',
    );
  },
);

describe('a server with TLS', () => {
  beforeAll(() => turnTlsOn(server.pool, files, files.nameCertificate));

  const rows = rowsBehind('tls:');

  test('the page has a row for each value of sslmode', () => {
    expect(rows.length).toBeGreaterThan(10);
    for (const mode of ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'])
      expect(rows.map(([parameters]) => parameters)).toContain(`sslmode=${mode}`);
  });

  test.each(rows)('%s: encrypted %s, CA checked %s, host name checked %s', async (text = '', ...promised) => {
    const parameters = text === 'none' ? '' : text;
    const withFile = (file: string) => parameters.replace('/path/ca.pem', file);
    const names = parameters.includes('sslrootcert');
    trust(...(names ? [] : [files.authorityText]));
    const encrypted = await isEncrypted(withFile(files.authority));
    const hostName = await isRefused(isEncrypted(withFile(files.authority), '127.0.0.1'));
    // Another CA, which `sslrootcert` names or which Node trusts.
    trust(...(names ? [files.authorityText] : []));
    const authority = await isRefused(isEncrypted(withFile(files.otherAuthority)));
    expect([encrypted ? 'yes' : 'no', authority, hostName]).toEqual(promised);
  });

  test('the driver warns about the values that a later version gives another meaning', async () => {
    const [warning] = await warned;
    expect(warning.message).toMatch(
      /'prefer', 'require', and 'verify-ca' are treated as aliases for 'verify-full'/,
    );
  });

  test('each error of the page ends the start of a process at once', async () => {
    trust();
    const places: Readonly<Record<string, string>> = {
      'unable to verify the first certificate': 'localhost?sslmode=verify-full',
      "Hostname/IP does not match certificate's altnames": `127.0.0.1?sslrootcert=${files.authority}`,
      'names the file …, which is not there': 'localhost?sslrootcert=/nowhere/ca.pem',
    };
    // Errors that other tests of this file show.
    const others = ['The server does not support SSL connections', ofWholeChain];
    expect([...Object.keys(places), ...others].toSorted()).toEqual(
      rowsBehind('tls errors:')
        .map(([text]) => text)
        .toSorted(),
    );
    for (const [text, place] of Object.entries(places)) {
      const [host, parameters] = place.split('?');
      let waits = 0;
      const open = async () => {
        const storage = postgresStorage({
          connectionString: `postgres://postgres:postgres@${host}:${server.port}/postgres?${parameters}`,
        });
        onTestFinished(() => storage.close());
        await storage.open(() => (waits += 1));
      };
      const [before = '', after = ''] = text.split('…');
      await expect(open()).rejects.toThrow(before);
      await expect(open()).rejects.toThrow(after);
      expect(waits).toBe(0);
    }
  });

  test('with NODE_EXTRA_CA_CERTS, a process trusts a CA of its own', async () => {
    const url = `postgres://postgres:postgres@localhost:${server.port}/postgres?sslmode=verify-full`;
    const program = `
      const { postgresPool } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)});
      const pool = postgresPool({ connectionString: ${JSON.stringify(url)} });
      (await pool.connect()).release();
      await pool.end();
    `;
    const args = ['--conditions=ostiary-source', '--input-type=module', '--eval', program];
    const run = (env: Readonly<Record<string, string>>) =>
      promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH, ...env } });
    await run({ NODE_EXTRA_CA_CERTS: files.authority });
    await expect(run({})).rejects.toThrow('certificate');
  });

  test('each host of a list is checked by its own name', async () => {
    const list = (hosts: string) =>
      `postgres://postgres:postgres@${hosts}/postgres?sslmode=verify-full&sslrootcert=${files.authority}`;
    const [right, wrong] = [`localhost:${server.port}`, `127.0.0.1:${server.port}`];
    const pool = postgresPool({ connectionString: list(`${wrong},${right}`) });
    onTestFinished(() => pool.end());
    (await pool.connect()).release();
  });

  test('a client authenticates with a certificate', async () => {
    const { rows } = await server.pool.query('SHOW hba_file');
    const file: string = rows[0].hba_file;
    const before = readFileSync(file, 'utf8');
    const rules = 'hostssl certified postgres all cert\n';
    expect(dirname(file)).toMatch(/data$/);
    writeFileSync(file, `${rules}${before}`);
    onTestFinished(async () => {
      writeFileSync(file, before);
      await server.pool.query('SELECT pg_reload_conf()');
    });
    await server.pool.query('CREATE DATABASE certified');
    await server.pool.query(`ALTER SYSTEM SET ssl_ca_file = '${files.authority}'`);
    await server.pool.query('SELECT pg_reload_conf()');
    const connect = async (parameters: string) => {
      const connectionString = `postgres://postgres@localhost:${server.port}/certified?sslmode=verify-full&sslrootcert=${files.authority}${parameters}`;
      const pool = postgresPool({ connectionString, max: 1 });
      onTestFinished(() => pool.end());
      (await pool.connect()).release();
    };
    await expect
      .poll(() => connect('').catch(String), { timeout: 5_000 })
      .toMatch(/requires a valid client certificate/);
    await connect(`&sslcert=${files.clientCertificate}&sslkey=${files.clientKey}`);
    // PostgreSQL sends the certificates of `ssl_ca_file` too.
    await expect(isEncrypted('sslmode=verify-full')).rejects.toThrow(ofWholeChain);
  });

  test('a replaced file is used by the next connection', async () => {
    const file = join(folder, 'replaced.pem');
    copyFileSync(files.otherAuthority, file);
    const connectionString = `postgres://postgres:postgres@localhost:${server.port}/postgres?sslrootcert=${file}`;
    const pool = postgresPool({ connectionString });
    onTestFinished(() => pool.end());
    await expect(pool.connect()).rejects.toThrow('certificate');
    copyFileSync(files.authority, file);
    (await pool.connect()).release();
  });

  test('a file that disappears fails calls, and not the process', async () => {
    const file = join(folder, 'disappearing.pem');
    copyFileSync(files.authority, file);
    const connectionString = `postgres://postgres:postgres@localhost:${server.port}/postgres?sslrootcert=${file}`;
    const pool = postgresPool({ connectionString, max: 1 });
    onTestFinished(() => pool.end());
    const client = await pool.connect();
    // Both wait for the only connection, whose end makes the pool open another one.
    const waiting = [pool.connect(), pool.connect()];
    rmSync(file);
    client.release(true);
    for (const one of waiting)
      await expect(one).rejects.toThrow(`sslrootcert names the file ${file}, which is not there`);
    copyFileSync(files.authority, file);
    (await pool.connect()).release();
  });
});
