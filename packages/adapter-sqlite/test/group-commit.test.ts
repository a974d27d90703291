import { setImmediate } from 'node:timers/promises';
import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { callTimeoutMs } from '../src/busy.ts';
import { GroupCommit } from '../src/group-commit.ts';
import { temporaryFile } from './temporary.ts';
import { fakeTiming } from './timing.ts';

/**
 * Creates a database with one table, its group commit, a record of every statement, and a second connection.
 */
function setUp() {
  const file = temporaryFile();
  const statements: string[] = [];
  const connect = (verbose?: (statement: unknown) => void) => {
    const connection = new Driver(file, { timeout: 2, verbose });
    onTestFinished(() => void connection.close());
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    return connection;
  };
  const connection = connect((statement) => statements.push(String(statement)));
  connection.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
  const insert = connection.prepare<[number, string]>('INSERT INTO notes (id, text) VALUES (?, ?)');
  const other = connect();
  const stored = other.prepare<[], number>('SELECT id FROM notes ORDER BY rowid').pluck();
  const timing = fakeTiming();
  return {
    connection,
    other,
    timing,
    groups: new GroupCommit(connection, timing, () => undefined),
    note: (id: number, text = 'text') => insert.run(id, text).changes,
    /** Returns the rows that another connection sees, which are the committed rows. */
    stored: () => stored.all(),
    commits: () => statements.filter((statement) => statement === 'COMMIT').length,
    begins: () => statements.filter((statement) => statement.startsWith('BEGIN')).length,
    savepoints: () => statements.filter((statement) => statement.startsWith('SAVEPOINT')).length,
  };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

test('writes that wait in the same turn share one commit, in order', async () => {
  const { groups, note, stored, commits } = setUp();
  const ran: number[] = [];
  const write = (id: number) =>
    groups.write(() => {
      ran.push(id);
      note(id);
      return `result ${id}`;
    });
  const results = await Promise.all(numbers(100).map(write));
  expect(results).toEqual(numbers(100).map((id) => `result ${id}`));
  expect(ran).toEqual(numbers(100));
  expect(stored()).toEqual(numbers(100));
  expect(commits()).toBe(1);
});

test('a flood is split into groups of bounded size', async () => {
  const { groups, note, stored, commits } = setUp();
  await Promise.all(numbers(1201).map((id) => groups.write(() => note(id))));
  expect(stored()).toHaveLength(1201);
  expect(commits()).toBe(3);
});

test('no call resolves before the commit', async () => {
  const { groups, note, stored } = setUp();
  const seenWhileWorking: number[][] = [];
  const seenWhenAnswered: number[][] = [];
  const write = async (id: number) => {
    await groups.write(() => {
      note(id);
      seenWhileWorking.push(stored());
    });
    seenWhenAnswered.push(stored());
  };
  await Promise.all([write(1), write(2)]);
  expect(seenWhileWorking).toEqual([[], []]);
  expect(seenWhenAnswered).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test('a writer that breaks a constraint, or throws, is undone alone', async () => {
  const { groups, note, stored, commits } = setUp();
  const results = await Promise.allSettled([
    groups.write(() => note(1)),
    groups.write(() => note(2) + note(3) + note(1)),
    groups.write(() => {
      note(5);
      throw new RangeError('mine');
    }),
    groups.write(() => note(4)),
  ]);
  expect(results).toMatchObject([
    { value: 1 },
    { reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } },
    { reason: { message: 'mine' } },
    { value: 1 },
  ]);
  expect(stored()).toEqual([1, 4]);
  expect(commits()).toBe(1);
});

test('only a group in which a writer fails has savepoints', async () => {
  const { groups, note, stored, savepoints } = setUp();
  await Promise.all(numbers(3).map((id) => groups.write(() => note(id))));
  expect(savepoints()).toBe(0);

  const ran: number[] = [];
  const write = (id: number) => groups.write(() => ran.push(id) && note(id));
  await Promise.allSettled([write(3), write(0), write(4)]);
  expect(stored()).toEqual([0, 1, 2, 3, 4]);
  expect(ran).toEqual([3, 0, 3, 0, 4]);
  expect(savepoints()).toBe(3);
});

test('a full disk rejects the whole group, stores nothing of it, and is survived', async () => {
  const { connection, groups, note, stored } = setUp();
  await groups.write(() => note(1));
  const pages = Number(connection.pragma('page_count', { simple: true }));
  connection.pragma(`max_page_count = ${pages + 2}`);
  const results = await Promise.allSettled([
    groups.write(() => note(2)),
    groups.write(() => note(3, 'x'.repeat(100_000))),
    groups.write(() => note(4)),
  ]);
  const full = { status: 'rejected', reason: { code: 'SQLITE_FULL' } };
  expect(results).toMatchObject([full, full, full]);
  expect(stored()).toEqual([1]);

  await groups.write(() => note(5));
  connection.pragma(`max_page_count = ${pages + 1000}`);
  await groups.write(() => note(6, 'x'.repeat(100_000)));
  expect(stored()).toEqual([1, 5, 6]);
});

test('a call on a busy database fails after the deadline while other work continues', async () => {
  const { groups, note, other, stored, timing, begins } = setUp();
  other.exec('BEGIN IMMEDIATE');
  let pauses = 0;
  timing.onSleep = () => {
    pauses += 1;
  };
  let turns = 0;
  let waiting = true;
  const otherWork = (async () => {
    while (waiting) {
      turns += 1;
      await setImmediate();
    }
  })();
  const results = await Promise.allSettled([groups.write(() => note(1)), groups.write(() => note(2))]);
  waiting = false;
  await otherWork;

  const busy = { status: 'rejected', reason: { code: 'SQLITE_BUSY' } };
  expect(results).toMatchObject([busy, busy]);
  expect(timing.elapsed()).toBeGreaterThanOrEqual(callTimeoutMs);
  expect(timing.elapsed()).toBeLessThan(callTimeoutMs + 100);
  expect(turns).toBeGreaterThan(50);
  // A busy database blocks the event loop once for each pause, and not again with savepoints.
  expect(begins()).toBe(pauses + 1);

  other.exec('ROLLBACK');
  await groups.write(() => note(3));
  expect(stored()).toEqual([3]);
});

test('a database that becomes free in time takes everybody who waits, in order and in one commit', async () => {
  const { groups, note, other, stored, commits, timing } = setUp();
  other.exec('BEGIN IMMEDIATE');
  const late: Promise<unknown>[] = [];
  let sleeps = 0;
  timing.onSleep = () => {
    sleeps += 1;
    if (sleeps === 3) late.push(groups.write(() => note(3)));
    if (sleeps === 5) other.exec('COMMIT');
  };
  await Promise.all([groups.write(() => note(1)), groups.write(() => note(2))]);
  await Promise.all(late);
  expect(stored()).toEqual([1, 2, 3]);
  expect(commits()).toBe(1);
});

test('each writer has its own deadline', async () => {
  const { groups, note, other, stored, timing } = setUp();
  other.exec('BEGIN IMMEDIATE');
  let late: Promise<unknown> | null = null;
  timing.onSleep = () => {
    if (timing.elapsed() >= 1500) late ??= groups.write(() => note(2));
    if (timing.elapsed() >= 2500 && other.inTransaction) other.exec('COMMIT');
  };
  await expect(groups.write(() => note(1))).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
  expect(timing.elapsed()).toBeLessThan(2100);
  await late;
  expect(stored()).toEqual([2]);
});

test('idle waits for everybody who waits, and for those who join them', async () => {
  const { groups, note, other, stored, timing } = setUp();
  await groups.idle();
  other.exec('BEGIN IMMEDIATE');
  timing.onSleep = () => {
    timing.onSleep = () => other.inTransaction && other.exec('COMMIT');
    void groups.write(() => note(2));
  };
  void groups.write(() => note(1));
  await groups.idle();
  expect(stored()).toEqual([1, 2]);
});
