import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Storage } from '@ostiary/core/storage';
import { storageContract } from '@ostiary/testing/contract';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { sqliteStorage } from '../src/index.ts';
import { temporaryFile } from './temporary.ts';

const folder = mkdtempSync(join(tmpdir(), 'ostiary-sqlite-'));
const migrated = join(folder, 'ostiary.db');

beforeAll(async () => {
  await (await opened(migrated)).close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function opened(file: string): Promise<Storage> {
  const storage = sqliteStorage({ file });
  await storage.open();
  return storage;
}

/** An empty database: migrations take longer than most cases, and are the same each time. */
function emptyFile(): string {
  const file = temporaryFile();
  copyFileSync(migrated, file);
  return file;
}

describe('SQLite storage', () => {
  for (const { name, run } of storageContract(() => opened(emptyFile()))) test(name, run);
});

/** Cases in which one call depends on what another one left: all that a storage could keep to itself. */
const meet =
  /^(?:storage|signing keys|idempotency|replays|keys of [a-z ]+|redemption|settlement|queue|events|webhook endpoints|redeliveries|delivery claims|delivery results|parallel calls|the end of a partner):/;

describe('two SQLite storages on one file, used in turns', () => {
  const create = async () => {
    const file = emptyFile();
    return inTurns(await opened(file), await opened(file));
  };
  for (const { name, run } of storageContract(create).filter(({ name }) => meet.test(name))) test(name, run);
});

/** A storage whose calls go to one and the other of two in turns, as requests go to two processes. */
function inTurns(first: Storage, second: Storage): Storage {
  let turn = 0;
  const nounInTurns = <Noun extends object>(one: Noun, other: Noun): Noun =>
    new Proxy(one, {
      get(_target, name) {
        turn += 1;
        return Reflect.get(turn % 2 === 0 ? one : other, name);
      },
    });
  return {
    ...first,
    clients: nounInTurns(first.clients, second.clients),
    grants: nounInTurns(first.grants, second.grants),
    consents: nounInTurns(first.consents, second.consents),
    interactions: nounInTurns(first.interactions, second.interactions),
    signingKeys: nounInTurns(first.signingKeys, second.signingKeys),
    partners: nounInTurns(first.partners, second.partners),
    apiKeys: nounInTurns(first.apiKeys, second.apiKeys),
    idempotency: nounInTurns(first.idempotency, second.idempotency),
    transfers: nounInTurns(first.transfers, second.transfers),
    webhooks: nounInTurns(first.webhooks, second.webhooks),
    events: nounInTurns(first.events, second.events),
    deliveries: nounInTurns(first.deliveries, second.deliveries),
    queue: nounInTurns(first.queue, second.queue),
    async close() {
      await Promise.all([first.close(), second.close()]);
    },
  };
}
