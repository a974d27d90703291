import { symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { registered } from '../../testing/src/contract/webhook-samples.ts';
import {
  hostTransactionTests,
  publish,
  sequence,
  unavailable,
} from '../../testing/test/adapters/host-transactions.ts';
import { sqliteStorage } from '../src/index.ts';
import { openDatabase, temporaryFile } from './temporary.ts';

/**
 * Opens a storage with one endpoint, and a host application's connection to the same file with a table of the
 * host.
 */
async function shared() {
  const opened = await openDatabase();
  await registered(opened.storage, '1');
  const handle = new Driver(opened.file);
  onTestFinished(() => void handle.close());
  handle.exec('CREATE TABLE users (name TEXT NOT NULL) STRICT');
  const addUser = (name: string) => handle.prepare('INSERT INTO users VALUES (?)').run(name);
  const users = () => handle.prepare('SELECT name FROM users ORDER BY rowid').pluck().all();
  const execute = (sql: string) => handle.exec(sql);
  const speakOtherwise = () => handle.defaultSafeIntegers(true);
  return { ...opened, handle, execute, addUser, users, speakOtherwise };
}

hostTransactionTests(shared);

test('in a transaction of the driver an event is stored at once, with nothing to wait for', async () => {
  const { storage, handle } = await shared();
  const change = handle.transaction(() => {
    expect(storage.events.within(handle).publish([sampleEvent('Ada')])).toBeUndefined();
  });
  change();
  expect(await sequence(storage)).toEqual(['evt_Ada']);
});

test('the file may have other names', async () => {
  const { file, storage } = await shared();
  const link = join(dirname(file), 'link.db');
  symlinkSync(file, link);
  for (const [index, path] of [relative(process.cwd(), file), link].entries()) {
    const handle = new Driver(path);
    handle.transaction(() => storage.events.within(handle).publish([sampleEvent(`${index}`)]))();
    handle.close();
  }
  expect(await sequence(storage)).toEqual(['evt_0', 'evt_1']);
});

test('handles that cannot be meant are refused with what is wrong', async () => {
  const { file, storage } = await shared();
  const begun = (handle: Driver.Database) => handle.exec('BEGIN');
  const refused = (handle: unknown) => expect(() => storage.events.within(handle));
  refused('BEGIN').toThrow(
    new TypeError('transaction: has to be a Database of better-sqlite3 that is in a transaction'),
  );
  refused({ query: () => undefined }).toThrow(/has to be a Database of better-sqlite3/);

  const memory = begun(new Driver(':memory:'));
  refused(memory).toThrow(/^transaction: the handle is a database in memory/);
  memory.close();
  refused(memory).toThrow(new TypeError('transaction: the database handle is closed'));

  const readonly = begun(new Driver(file, { readonly: true }));
  refused(readonly).toThrow(new TypeError('transaction: the database handle is read-only'));
  readonly.close();

  const otherFile = temporaryFile();
  const other = begun(new Driver(otherFile));
  refused(other).toThrow(TypeError);
  refused(other).toThrow(`has opened another file than this storage: ${otherFile}`);
  other.exec(`ROLLBACK; ATTACH '${file}' AS ostiary; BEGIN`);
  refused(other).toThrow('has opened another file');
  other.close();
});

test('a storage that is not open yet refuses', async () => {
  const { file, handle } = await shared();
  handle.exec('BEGIN');
  const unopened = sqliteStorage({ file });
  expect(() => unopened.events.within(handle)).toThrow(expect.objectContaining(unavailable));
});

test('publications of ours wait for a host’s transaction, and neither fails nor leaves a gap', async () => {
  const { storage, timing, handle, addUser, users } = await shared();
  const names = Array.from({ length: 30 }, (_, index) => `${index}`);
  const ours = names.map((name) => publish(storage, `ours ${name}`));
  for (const name of names) {
    handle.exec('BEGIN IMMEDIATE');
    addUser(name);
    storage.events.within(handle).publish([sampleEvent(`host ${name}`)]);
    // The lock is held across turns of the event loop, so SQLite refuses the storage's writes, which are
    // repeated.
    await setImmediate();
    await setImmediate();
    handle.exec(Number(name) % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
    ours.push(publish(storage, `later ${name}`));
    await setImmediate();
  }
  expect(timing.elapsed(), 'ours had to wait').toBeGreaterThan(0);
  expect(await Promise.all(ours)).toEqual(ours.map(() => ({ outcome: 'published' })));
  const events = await sequence(storage);
  expect(events).toHaveLength(80);
  expect(events.filter((id) => id.startsWith('evt_host')).map((id) => id.slice(9))).toEqual(users());
});

test('a transaction that began to read too early is refused, and can be tried again', async () => {
  const { storage, handle, addUser, users } = await shared();
  const change = handle.transaction(() => {
    handle.prepare('SELECT count(*) FROM users').get();
    if (users().length === 0) interrupt();
    storage.events.within(handle).publish([sampleEvent('Ada')]);
    addUser('Ada');
  });
  const other = new Driver(handle.name);
  const interrupt = () => other.exec("INSERT INTO users VALUES ('Grace')");
  expect(change).toThrow(expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' }));
  other.close();
  expect(users()).toEqual(['Grace']);
  expect(await sequence(storage)).toEqual([]);
  change.immediate();
  expect(await sequence(storage)).toEqual(['evt_Ada']);
});
