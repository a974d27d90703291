import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { type Pair, startPair } from '../../../lab/support/postgres/pair.ts';
import { type PgBouncer, pgbouncer, startPgBouncer } from '../../../lab/support/postgres/pgbouncer.ts';
import { tlsFiles, turnTlsOn } from '../../../lab/support/postgres/tls.ts';
import { storeSamples } from '../../testing/test/adapters/every-call.ts';
import { type PostgresPoolClient, postgresStorage } from '../src/index.ts';
import { calls } from './rows.ts';

if (pgbouncer === undefined) console.log('The tests behind PgBouncer are left out: there is no pgbouncer.');

const digest = Buffer.alloc(32, 7);

describe.skipIf(pgbouncer === undefined)('a storage behind PgBouncer', () => {
  let pair: Pair;
  let pooler: PgBouncer;

  beforeAll(async () => {
    pair = await startPair({ fsync: false });
    await pair.addStandby();
    pooler = await startPgBouncer(pgbouncer ?? '', pair.primaryPort());
  });

  afterAll(async () => {
    await pooler?.stop();
    await pair?.remove();
  });

  /** Opens a storage on a single connection to the pooler. The connection is kept after every error. */
  async function openedOnOneConnection() {
    const client = new Client({ connectionString: pooler.url }).on('error', () => undefined);
    await client.connect();
    const kept: PostgresPoolClient = {
      query: async ({ values, ...statement }) =>
        client.query({ ...statement, ...(values && { values: [...values] }) }),
      release: (destroy) => void (destroy && client.query('ROLLBACK').catch(() => undefined)),
    };
    const storage = postgresStorage({ pool: { connect: async () => kept } });
    onTestFinished(async () => {
      await storage.close();
      await client.end();
    });
    await storage.open();
    return storage;
  }

  test('refuses every call while the pooler connects to a standby, and continues at the new primary', async () => {
    // Several storages, because a refused call is repeated for a while.
    const storages = await Promise.all(Array.from({ length: 8 }, openedOnOneConnection));
    const [storage] = storages;
    if (storage === undefined) throw new Error('there is no storage');
    await storeSamples(storage);
    await storage.interactions.save(digest, { kept: true }, 1_000);
    expect(await storage.interactions.find(digest, 0)).toEqual({ kept: true });

    await pair.switchOver();
    // The connections to the pooler are the same, but the server behind them is now a standby, which would
    // respond to reads.
    const answered: string[] = [];
    const left = [...calls];
    await Promise.all(
      storages.map(async (one) => {
        for (let next = left.pop(); next !== undefined; next = left.pop()) {
          const [name, call] = next;
          const outcome = await call(one).then(() => 'answered', String);
          // This PgBouncer forgets prepared statements, which may cause the error of a call's last attempt.
          if (!/takes no writes: it is a standby|prepared statement "ostiary_\w+"/.test(outcome))
            answered.push(`${name}: ${outcome}`);
        }
      }),
    );
    expect(answered).toEqual([]);

    await pooler.pointTo(pair.primaryPort());
    expect(await storage.interactions.find(digest, 0)).toEqual({ kept: true });
    await storage.interactions.save(digest, { kept: 'again' }, 1_000);
  });

  test('waits for a place while the pooler has too many clients', async () => {
    const small = await startPgBouncer(pgbouncer ?? '', pair.primaryPort(), { max_client_conn: 1 });
    const storage = postgresStorage({ connectionString: small.url });
    onTestFinished(async () => {
      await storage.close();
      await small.stop();
    });
    const other = new Client({ connectionString: small.url });
    await other.connect();
    const opening = storage.open();
    await pause(300);
    await other.end();
    await opening;
    await storage.ping();
  });

  test('waits while the pooler has no server, for less than a second after it has one again', async () => {
    const storage = postgresStorage({ connectionString: pooler.url });
    onTestFinished(() => storage.close());
    await storage.open();
    await pooler.pointTo(await freePort());
    // The command ends existing server connections.
    await pooler.command('RECONNECT');
    await expect(storage.ping()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    await pooler.pointTo(pair.primaryPort());
    const start = performance.now();
    await storage.ping();
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  test('encrypts and checks certificates on both sides', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ostiary-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const files = tlsFiles(folder);
    await turnTlsOn(pair.app, files);
    const start = (authority: string) =>
      startPgBouncer(
        pgbouncer ?? '',
        pair.primaryPort(),
        {
          ...{ server_tls_sslmode: 'verify-full', server_tls_ca_file: authority },
          ...{ client_tls_sslmode: 'require' },
          ...{ client_tls_key_file: files.key, client_tls_cert_file: files.certificate },
        },
        `?sslmode=verify-full&sslrootcert=${files.authority}`,
      );
    const secure = await start(files.authority);
    onTestFinished(() => secure.stop());
    const storage = postgresStorage({ connectionString: secure.url });
    onTestFinished(() => storage.close());
    await storage.open();
    await storage.ping();
    const client = new Client({ connectionString: secure.url });
    await client.connect();
    const { rows } = await client.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    await client.end();
    expect(rows).toEqual([{ ssl: true }]);
    const plain = new Client({ connectionString: secure.url.replace(/\?.*/, '') });
    await expect(plain.connect()).rejects.toThrow('SSL required');

    const misled = await start(files.otherAuthority);
    onTestFinished(() => misled.stop());
    // PgBouncer has no parameters of a server to send, and lets the client wait.
    const waiting = new Client({ connectionString: misled.url, connectionTimeoutMillis: 1_000 });
    await expect(waiting.connect()).rejects.toThrow('timeout');
  });
});
