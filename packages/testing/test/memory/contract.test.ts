import { describe, test } from 'vitest';
import { storageContract } from '../../src/contract/index.ts';
import { memoryStorage } from '../../src/memory/index.ts';

describe('memory storage', () => {
  const create = async () => {
    const storage = memoryStorage();
    await storage.open();
    return storage;
  };
  for (const { name, run } of storageContract(create, { rateLimits: true })) test(name, run);
});
