import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { runHere } from '../../../lab/support/processes/run-here.ts';
import { run } from '../../reference-server/test/support/processes.ts';

const program = join(import.meta.dirname, '../src/cluster.ts');

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cluster-test-'));
  // PostgreSQL runs as another user where this one is root.
  await chmod(folder, 0o755);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('processes that are killed lose nothing and do nothing twice', async () => {
  const folder = await temporaryFolder();
  const { ended, output, errors } = run(program, ['--payments', '9'], {
    TMPDIR: folder,
    NODE_ENV: 'test',
    // What others have in their environment is no setting of the demo's processes.
    DATABASE_URL: 'postgres://somebody:elses@localhost:1/database',
    OSTIARY_ROLE: 'worker',
  });
  const code = await ended;
  const stdout = output();
  expect(errors()).toBe('');
  // A line that does not hold is worth more in the message than an exit code.
  expect(stdout).toContain('Every line holds.');
  expect(code).toBe(0);
  const rows = new Map(
    [...stdout.matchAll(/^\| (.+?) +\| (.+?) +\| (ok|NO) \|$/gm)].map(([, name = '', found]) => [
      name,
      found,
    ]),
  );
  expect(Object.fromEntries(rows)).toMatchObject({
    'payments sent, with an answer': '9',
    'sent once more to the other process: the same transfer': '9',
    'transfers paid': '9',
    'transfers paid twice': '0',
    'events published': '10',
    'deliveries that ended as delivered': '10',
    'events lost': '0',
    'events handled twice': '0',
    'accounts and movements that do not add up': '0',
    'exit codes after SIGTERM': '0, 0, 0, 0',
  });
  expect(rows.size).toBeGreaterThan(20);
  expect(stdout).not.toMatch(/postgres:\/\/|svc_(at|live|test)_/);
  expect(await readdir(folder)).toEqual([]);
}, 240_000);

test.each([
  [true, 0, 'Every line holds.'],
  [false, 1, 'Not every line holds.'],
])('a line that holds (%s) ends it with the exit code %i', async (holds, wanted, said) => {
  const files = ['postgres.ts', 'results.ts'].map(
    (name) => new URL(`../src/cluster/${name}`, import.meta.url),
  );
  // With the package that starts PostgreSQL, which has a will of its own about the end of a process.
  const script = `await import('${files[0]}');
    const { Results } = await import('${files[1]}');
    const results = new Results();
    results.add('something', 'as it is', ${holds});
    results.end();`;
  const args = ['--conditions=source', '--input-type=module', '--eval', script];
  const { code, stdout } = await promisify(execFile)(process.execPath, args).then(
    (ended) => ({ ...ended, code: 0 }),
    (error) => error,
  );
  expect([code, stdout.trim().split('\n').at(-1)]).toEqual([wanted, said]);
});

test('other arguments are refused in one line', async () => {
  for (const args of [['--payments', '51'], ['--payments', 'many'], ['now']]) {
    const { code, errors } = await runHere(program, args, { TMPDIR: await temporaryFolder() });
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/^ostiary: the only argument is --payments.*\n$/),
    ]);
  }
});
