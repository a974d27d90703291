import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { faultsIn } from './faults.ts';
import { createScratch } from './scratch.ts';

it('plants one mistake at a time in SQL, and none in code or comments', () => {
  const statement =
    'SELECT id FROM jobs -- due_at <= now\nWHERE kind = ? AND due_at <= ? ORDER BY due_at, id';
  const source = `if (a <= b) {\n  prepare(\`${statement}\`);\n}`;
  const faults = faultsIn('queue.ts', source);
  expect(faults.map(({ line, change }) => [line, change])).toEqual([
    [3, '<= → <'],
    [3, 'ORDER BY due_at, id → ORDER BY due_at'],
  ]);
  expect(faults.map(({ mutated }) => mutated)).toEqual([
    source.replace('due_at <= ?', 'due_at < ?'),
    source.replace('due_at, id', 'due_at'),
  ]);
});

it('says which contract case catches a fault', async () => {
  const scratch = createScratch('adapter-sqlite');
  onTestFinished(scratch.remove);
  const file = join(scratch.folder, 'src/idempotency.ts');
  const [fault] = faultsIn(file, readFileSync(file, 'utf8'));
  expect(fault?.change).toBe('> → >=');
  writeFileSync(file, fault?.mutated ?? '');
  expect(await scratch.firstFailure()).toMatch(/^[a-z ]+: /);
}, 180_000);
