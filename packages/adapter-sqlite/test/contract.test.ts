import { storageContract } from '@ostiary/core/contract';
import { describe, test } from 'vitest';
import { sqliteStorage } from '../src/index.ts';
import { temporaryFile } from './temporary.ts';

describe('SQLite storage', () => {
  const create = async () => {
    const storage = sqliteStorage({ file: temporaryFile() });
    await storage.open();
    return storage;
  };
  for (const { name, run } of storageContract(create)) test(name, run);
});
