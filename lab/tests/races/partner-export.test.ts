import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';

// More than the buffers between server and client hold.
const rows = 60_000;

const day = '2025-06-15';

it('holds nothing of the database while an export is read slowly: the WAL is emptied meanwhile', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ostiary-export-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'ostiary.db');
  const ostiary = await createOstiary({
    authUrl: 'http://localhost:1',
    storage: sqliteStorage({ file }),
    sealingKeys: [randomBytes(32).toString('base64url')],
    users: { find: () => null, findByKid: () => null, findByPhone: () => null },
    login: { authenticate: () => null, loginUrl: () => '/login' },
    payments: { execute: async () => ({ status: 'completed' }) },
  });
  onTestFinished(() => ostiary.close());
  const { connection, close } = await openSqlite(file);
  onTestFinished(close);

  await ostiary.admin.partners.create({ slug: 'acme', name: 'Acme' });
  const { key } = await ostiary.admin.apiKeys.issue({
    partner: 'acme',
    mode: 'live',
    scopes: ['reconciliation:read'],
  });
  connection
    .prepare(`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows)
      INSERT INTO transfers (
        id, partner, mode, status, amount, currency, recipient_kid, description, created_at, updated_at, completed_at
      )
      SELECT printf('tr_%032x', n), 'acme', 'live', 'completed', n, 'HTG', 'KID-1', hex(zeroblob(70)),
        :from + n, :from + n, :from + n
      FROM numbers
    `)
    .run({ rows, from: Date.parse(day) });

  const server = createServer(ostiary.handler).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const path = `/v1/partner/reconciliation?date=${day}&format=ndjson`;
  const request = get({ port, host: '127.0.0.1', path, headers: { 'x-api-key': key } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  // Takes the first bytes, and then nothing more for as long as the others need.
  await once(response, 'readable');
  const chunks: Buffer[] = [response.read()];

  for (let round = 0; round < 20; round += 1) {
    await ostiary.admin.partners.rename('acme', `Acme ${round}`);
    const [result] = connection.pragma('wal_checkpoint(TRUNCATE)') as { busy: number; log: number }[];
    expect(result).toMatchObject({ busy: 0, log: 0 });
  }
  expect(response.complete).toBe(false);

  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const { summary } = JSON.parse(text.slice(end));
  expect(text.slice(0, end).split('\n')).toHaveLength(rows + 1);
  expect(summary).toMatchObject({
    rows,
    final: true,
    sha256: createHash('sha256').update(text.slice(0, end)).digest('hex'),
  });
});
