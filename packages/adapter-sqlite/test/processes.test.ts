import { setImmediate } from 'node:timers/promises';
import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { acme, executions } from '../../testing/src/contract/partner-samples.ts';
import { listed, registered } from '../../testing/src/contract/webhook-samples.ts';
import { sequence } from '../../testing/test/adapters/host-transactions.ts';
import { processRaces } from '../../testing/test/adapters/process-races.ts';
import { together } from '../../testing/test/adapters/processes.ts';
import { readMigrations } from '../src/migrations.ts';
import { openDatabase, placeOf, temporaryFile } from './temporary.ts';

const own = (name: string) => new URL(`children/${name}`, import.meta.url);
const names = ['first', 'second'];

processRaces(
  () => {
    const file = temporaryFile();
    return {
      place: placeOf(file),
      open: async () => (await openDatabase(file)).storage,
      applied() {
        const driver = new Driver(file);
        onTestFinished(() => void driver.close());
        return driver.prepare('SELECT name FROM schema_migrations ORDER BY number').pluck().all();
      },
    };
  },
  readMigrations().map(({ name }) => name),
);

test('of two processes that ask for the same transfers one creates each, and the other gives its answer', async () => {
  const { file, storage } = await openDatabase();
  const count = 200;
  const answers = await together<{ outcome: string }[]>(
    own('create.ts'),
    placeOf(file),
    names.map((name) => [name, String(count)]),
  );
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const pair = answers.map((list) => list[number]);
    const winner = names[pair.findIndex((answer) => answer?.outcome === 'created')];
    const id = `tr_${number}_${winner}`;
    expect(pair, `key ${number}`).toContainEqual({ outcome: 'created' });
    expect(pair).toContainEqual({ outcome: 'replayed', answer: { status: 201, body: id } });
    expect((await storage.transfers.findById(id))?.status).toBe('pending');
    ids.push(id);
  }
  expect(await executions(storage)).toEqual(ids.toSorted());
});

test('two processes that publish and deliver leave no gap, and deliver everything once', async () => {
  const { file, storage } = await openDatabase();
  for (const label of ['1', '2', '3']) await registered(storage, label);
  const delivered: unknown[] = [];
  await together(
    own('deliver.ts'),
    placeOf(file),
    names.map((name) => [name, '100']),
    (message) => Array.isArray(message) && delivered.push(...message),
  );
  expect(await sequence(storage)).toHaveLength(200);
  expect(delivered).toHaveLength(600);
  expect(new Set(delivered).size).toBe(600);
  const done = await listed(storage, { ...acme, status: 'delivered' });
  expect(done.map(({ id }) => id).toSorted()).toEqual(delivered.toSorted());
  expect(done.filter(({ attempts }) => attempts.length !== 1)).toEqual([]);
});

test('a list of events and its newest number are of one moment while another process publishes', async () => {
  const { file, storage } = await openDatabase();
  let isPublishing = true;
  const publishing = together(own('publish.ts'), placeOf(file), [['500']]).finally(() => {
    isPublishing = false;
  });
  let after = 0;
  while (isPublishing) {
    const { events, newestSequence } = await storage.events.list({ ...acme, after, limit: 1_000 });
    expect(newestSequence).toBe(events.at(-1)?.sequence ?? after);
    after = newestSequence;
    await setImmediate();
  }
  await publishing;
});
