import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteDatabase } from '../../../examples/reference-server/src/database/sqlite.ts';
import { type HostProcess, startHost } from '../../support/processes/host.ts';

const body = { amount: '12.50', currency: 'HTG', recipient: { kid: 'KID-1' } };

describe('two processes with the partner API on one SQLite file', () => {
  const sealingKey = randomBytes(32).toString('base64url');
  let directory: string;
  let file: string;
  let processes: HostProcess[] = [];
  let ostiary: Ostiary;
  let observer: SqliteDatabase;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ostiary-races-'));
    file = join(directory, 'ostiary.db');
    // The administrator and the observer are further connections to the same file.
    ostiary = await createOstiary({
      authUrl: 'http://localhost:1',
      storage: sqliteStorage({ file }),
      sealingKeys: [sealingKey],
      users: { find: () => null },
      login: { authenticate: () => null, loginUrl: () => '/login' },
    });
    observer = await openSqlite(file);
    const host = { authUrl: 'http://localhost:1', file, sealingKey, isWorking: false };
    processes = await Promise.all([1, 2].map(() => startHost(host)));
  });
  afterAll(async () => {
    await ostiary?.close();
    observer?.close();
    await Promise.all(processes.map((process) => process.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  const at = (index: number): string => processes[index % processes.length]?.origin ?? '';

  /** A partner of its own, so that counts are about one test. */
  async function newPartner(): Promise<{ slug: string; key: string }> {
    const slug = `acme-${randomBytes(4).toString('hex')}`;
    await ostiary.admin.partners.create({ slug, name: 'Acme' });
    const { key } = await ostiary.admin.apiKeys.issue({
      partner: slug,
      mode: 'live',
      scopes: ['payments:write'],
    });
    return { slug, key };
  }

  async function pay(origin: string, key: string, idempotencyKey: string | null) {
    const response = await fetch(`${origin}/v1/partner/payments`, {
      method: 'POST',
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      replayed: response.headers.get('idempotent-replayed'),
      headers: response.headers,
      text: await response.text(),
    };
  }

  const count = (sql: string, ...values: unknown[]): number =>
    observer.connection.prepare<unknown[], { n: number }>(sql).get(...values)?.n ?? -1;
  const transfersOf = (slug: string): number =>
    count('SELECT count(*) AS n FROM transfers WHERE partner = ?', slug);
  const jobsOf = (slug: string): number =>
    count(
      "SELECT count(*) AS n FROM jobs JOIN transfers ON jobs.id = 'transfer:' || transfers.id WHERE partner = ?",
      slug,
    );

  it('make one transfer of 50 parallel requests with one key, and answer all of them alike', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { slug, key } = await newPartner();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => pay(at(index), key, 'order 1')),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
      expect(answers.filter(({ replayed }) => replayed === 'true')).toHaveLength(49);
      expect([transfersOf(slug), jobsOf(slug)]).toEqual([1, 1]);
    }
  });

  it('replay the bytes of an answer that nobody got, because the process was killed after the commit', async () => {
    const { slug, key } = await newPartner();
    const victim = await startHost({
      authUrl: 'http://localhost:1',
      file,
      sealingKey,
      isWorking: false,
      diesAfterCommit: true,
    });
    await expect(pay(victim.origin, key, 'order 1')).rejects.toThrow();
    expect(await victim.ended).toBe('SIGKILL');
    const stored = observer.connection
      .prepare<[string], { body: string }>('SELECT body FROM idempotency_records WHERE partner = ?')
      .all(slug);
    expect(stored).toHaveLength(1);
    for (const { origin } of processes) {
      expect(await pay(origin, key, 'order 1')).toMatchObject({
        status: 201,
        replayed: 'true',
        text: stored[0]?.body,
      });
    }
    expect([transfersOf(slug), jobsOf(slug)]).toEqual([1, 1]);
  });

  it('write nothing for a replay', async () => {
    const { slug, key } = await newPartner();
    // Changes whenever another connection commits.
    const version = () => observer.connection.pragma('data_version', { simple: true });
    const beforeAnything = version();
    const first = await pay(at(0), key, 'order 1');
    expect(version()).not.toBe(beforeAnything);
    // The other process has not seen the key yet, and notes no use of it: that was noted just now.
    await pay(at(1), key, 'order 1');
    const before = version();
    for (let index = 0; index < 10; index += 1) {
      expect(await pay(at(index), key, 'order 1')).toMatchObject({ text: first.text, replayed: 'true' });
    }
    expect(version()).toBe(before);
    expect([transfersOf(slug), jobsOf(slug)]).toEqual([1, 1]);
  });

  it('refuse exactly what is above the limit of a process', async () => {
    const { slug, key } = await newPartner();
    const answers = await Promise.all(Array.from({ length: 125 }, () => pay(at(0), key, null)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(120);
    expect(refused).toHaveLength(5);
    for (const { headers } of refused) {
      expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual(['120', '0']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(transfersOf(slug)).toBe(120);
    // SQLite has no shared counter: the other process counts on its own.
    expect((await pay(at(1), key, null)).status).toBe(201);
  });
});
