import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { storageContract } from '../../src/contract/index.ts';

test('the page for authors of storages names cases that there are', () => {
  const page = readFileSync(new URL('../../../../docs/storage.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\|[^|\n]*\| `([^`]+: [^`]+)` \|$/gm);
  const named = Array.from(rows, ([, name]) => name);
  const never = () => Promise.reject(new Error('no case is run'));
  const names = storageContract(never).map(({ name }) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !names.includes(name ?? ''))).toEqual([]);
  expect(new Set(names).size, 'names are unique').toBe(names.length);
});
