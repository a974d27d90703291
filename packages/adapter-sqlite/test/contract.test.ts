import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Storage } from '@ostiary/core/storage';
import { storageContract } from '@ostiary/testing/contract';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { sqliteStorage } from '../src/index.ts';
import { temporaryFile } from './temporary.ts';

async function opened(file: string): Promise<Storage> {
  const storage = sqliteStorage({ file });
  await storage.open();
  return storage;
}

const folder = mkdtempSync(join(tmpdir(), 'ostiary-sqlite-'));

/**
 * Path of a database file without rows, which is copied for each case, because creating its tables takes
 * longer than most cases.
 */
const empty = join(folder, 'empty.db');
beforeAll(async () => (await opened(empty)).close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function copyOfEmpty(): string {
  const file = temporaryFile();
  copyFileSync(empty, file);
  return file;
}

describe('SQLite storage', () => {
  for (const { name, run } of storageContract(() => opened(copyOfEmpty()))) test(name, run);
});

/**
 * Matches the names of contract cases in which one call depends on the result of another: they cover all
 * state that a storage could keep in memory.
 */
const meet =
  /^(?:storage|signing keys|idempotency|keys of [a-z ]+|redemption|settlement|queue|events|webhook endpoints|redeliveries|delivery claims|delivery results|leases of [a-z]+|parallel calls|the end of [a-z]+(?: partner)?):/;

describe('two SQLite storages on one file, used in turns', () => {
  const create = async () => {
    const file = copyOfEmpty();
    return inTurns(await opened(file), await opened(file));
  };
  for (const { name, run } of storageContract(create).filter(({ name }) => meet.test(name))) test(name, run);
});

/**
 * Makes a storage whose calls alternate between two other storages, as requests alternate between two
 * processes.
 */
function inTurns(first: Storage, second: Storage): Storage {
  let turn = 0;
  const nounInTurns = <Noun extends object>(one: Noun, other: Noun): Noun =>
    new Proxy(one, {
      get(_target, name) {
        turn += 1;
        return Reflect.get(turn % 2 === 0 ? one : other, name);
      },
    });
  const nouns = Object.entries(first).filter(([, noun]) => typeof noun === 'object');
  return {
    ...first,
    ...Object.fromEntries(nouns.map(([name, noun]) => [name, nounInTurns(noun, Reflect.get(second, name))])),
    async close() {
      await Promise.all([first.close(), second.close()]);
    },
  };
}
