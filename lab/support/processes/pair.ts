import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import type { RemoteClient } from '../browser/remote-flow.ts';
import { options } from './cluster-options.ts';
import { startHost } from './host.ts';
import { setStage } from './stage.ts';

/** Two processes behind one URL, an OAuth client, and an administrator in this process. */
export interface Pair {
  readonly origins: readonly string[];
  readonly client: RemoteClient;
  readonly ostiary: Ostiary;
}

async function onSqlite(ends: AsyncDisposableStack): Promise<Pair> {
  const directory = await mkdtemp(join(tmpdir(), 'ostiary-pair-'));
  ends.defer(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'ostiary.db');
  const sealingKey = randomBytes(32).toString('base64url');
  const processes = await Promise.all([1, 2].map(() => startHost({ file, sealingKey })));
  for (const one of processes) ends.defer(async () => assert.equal(await one.stop(), 0, 'exit code'));
  const ostiary = await createOstiary(options(sqliteStorage({ file }), { sealingKey }));
  ends.defer(() => ostiary.close());
  const redirectUri = 'https://app.example/callback';
  const settings = { name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid' as const] };
  const { client, clientSecret } = await ostiary.admin.clients.create(settings);
  const origins = processes.map(({ origin }) => origin);
  return { origins, ostiary, client: { id: client.clientId, secret: clientSecret ?? '', redirectUri } };
}

async function onPostgres(ends: AsyncDisposableStack): Promise<Pair> {
  const { cluster, client, ostiary } = await setStage(ends, {
    webs: 2,
    workers: 0,
    endpoints: 1,
    fsync: false,
  });
  return { origins: cluster.webs.map(({ origin }) => origin), client, ostiary };
}

/** Databases that two processes can share, each with the function that starts the processes. */
export const engines = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
] as const;
