import { symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { NewEvent, Storage } from '@ostiary/core/storage';
import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { sqliteStorage } from '../src/index.ts';
import { storageOn } from '../src/storage.ts';
import { temporaryFile } from './temporary.ts';
import { fakeTiming } from './timing.ts';

const acme = { partner: 'acme', mode: 'live' } as const;

function sampleEvent(label: string, changes: Partial<NewEvent> = {}): NewEvent {
  const event = { id: `evt_${label}`, type: 'kyc.updated', body: `body of ${label}`, createdAt: 5 };
  return { ...acme, ...event, deliveryId: `dl_${label}`, ...changes };
}

/** A storage with one endpoint, and the host's own connection to its file with a table of the host's. */
async function shared(storageOf: (file: string) => Storage = (file) => sqliteStorage({ file })) {
  const file = temporaryFile();
  const storage = storageOf(file);
  await storage.open();
  const host = new Driver(file);
  onTestFinished(async () => {
    host.close();
    await storage.close();
  });
  host.exec('CREATE TABLE users (name TEXT NOT NULL) STRICT');
  const endpoint = {
    ...acme,
    id: 'we_1',
    url: 'https://example.com/',
    events: ['*'],
    enabled: true,
    sealedSecret: 'sealed',
    createdAt: 1,
    updatedAt: 1,
    version: 1,
  };
  await storage.webhooks.create({ endpoint, idempotency: null, max: 9, now: 1 });
  const addUser = (name: string) => host.prepare('INSERT INTO users VALUES (?)').run(name);
  const users = () => host.prepare('SELECT name FROM users ORDER BY rowid').pluck().all();
  return { file, storage, host, addUser, users };
}

async function sequence({ events }: Storage): Promise<string[]> {
  const { events: all } = await events.list({ ...acme, after: 0, limit: 1000 });
  return all.map((event) => `${event.sequence} ${event.id}`);
}

async function deliveries(storage: Storage): Promise<string[]> {
  const filter = { endpointId: null, eventId: null, status: null, after: null, limit: 100 };
  return (await storage.deliveries.list({ ...acme, ...filter })).map(({ id }) => id).toSorted();
}

test('an event commits with the host’s change, in a transaction of the driver', async () => {
  const { storage, host, addUser, users } = await shared();
  const change = host.transaction((name: string) => {
    addUser(name);
    const answer = storage.events.within(host).publish([sampleEvent(name), sampleEvent(`${name} again`)]);
    expect(answer, 'at once').toBeUndefined();
  });
  change('Ada');
  expect(users()).toEqual(['Ada']);
  expect(await sequence(storage)).toEqual(['1 evt_Ada', '2 evt_Ada again']);
  expect(await deliveries(storage)).toEqual(['dl_Ada again_1', 'dl_Ada_1']);
  const { deliveryId: _, ...stored } = sampleEvent('Ada');
  expect(await storage.events.find(acme, 'evt_Ada')).toEqual({ ...stored, sequence: 1 });
});

test('an event is seen by nobody until a manual transaction commits', async () => {
  const { storage, host, addUser } = await shared();
  host.exec('BEGIN');
  addUser('Ada');
  storage.events.within(host).publish([sampleEvent('Ada')]);
  await setImmediate();
  expect(await sequence(storage)).toEqual([]);
  host.exec('COMMIT');
  expect(await sequence(storage)).toEqual(['1 evt_Ada']);
});

test('a transaction that is rolled back leaves nothing, and no number is lost', async () => {
  const { storage, host, addUser, users } = await shared();
  await storage.events.publish([sampleEvent('first')], { idempotency: null, now: 1 });
  const change = host.transaction(() => {
    addUser('Ada');
    storage.events.within(host).publish([sampleEvent('Ada')]);
    throw new RangeError('the host changed its mind');
  });
  expect(change).toThrow(RangeError);
  expect(users()).toEqual([]);
  expect(await sequence(storage)).toEqual(['1 evt_first']);
  expect(await deliveries(storage)).toEqual(['dl_first_1']);
  await storage.events.publish([sampleEvent('Ada')], { idempotency: null, now: 1 });
  expect(await sequence(storage)).toEqual(['1 evt_first', '2 evt_Ada']);
});

test('events that cannot be stored are undone alone, and the host can go on', async () => {
  const { storage, host, addUser, users } = await shared();
  await storage.events.publish([sampleEvent('taken')], { idempotency: null, now: 1 });
  host.transaction(() => {
    addUser('Ada');
    const { publish } = storage.events.within(host);
    expect(() => publish([sampleEvent('a'), sampleEvent('taken')])).toThrow(
      expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' }),
    );
    publish([sampleEvent('b')]);
  })();
  expect(users()).toEqual(['Ada']);
  expect(await sequence(storage)).toEqual(['1 evt_taken', '2 evt_b']);
});

test('who may hear about a user is asked inside the transaction', async () => {
  const { storage, host } = await shared();
  const times = { createdAt: 1, updatedAt: 1, disabledAt: null, version: 1 };
  await storage.partners.insert({ slug: 'acme', name: 'Acme', ...times });
  await storage.clients.insert({
    clientId: 'shop',
    name: 'Shop',
    secrets: [],
    redirectUris: [],
    allowedScopes: ['kyc'],
    requirePkce: true,
    requireSecret: false,
    firstParty: false,
    idTokenAlg: 'RS256',
    partner: 'acme',
    ...times,
  });
  await storage.consents.remember({ sub: 'ada', clientId: 'shop', scopes: ['kyc'], now: 1 });
  host.transaction(() => {
    const { partnersHolding } = storage.events.within(host);
    expect(partnersHolding({ sub: 'ada', scope: 'kyc' })).toEqual(['acme']);
    host.exec('UPDATE partners SET disabled_at = 2');
    expect(partnersHolding({ sub: 'ada', scope: 'kyc' }), 'it sees what the host did').toEqual([]);
  })();
});

test('a connection that speaks in bigints is understood', async () => {
  const { storage, host } = await shared();
  host.defaultSafeIntegers(true);
  host.transaction(() => storage.events.within(host).publish([sampleEvent('a'), sampleEvent('b')]))();
  expect(await sequence(storage)).toEqual(['1 evt_a', '2 evt_b']);
  expect(await deliveries(storage)).toEqual(['dl_a_1', 'dl_b_1']);
});

test('the file may have other names', async () => {
  const { file, storage } = await shared();
  const link = join(dirname(file), 'link.db');
  symlinkSync(file, link);
  for (const [index, path] of [relative(process.cwd(), file), link].entries()) {
    const host = new Driver(path);
    host.transaction(() => storage.events.within(host).publish([sampleEvent(`${index}`)]))();
    host.close();
  }
  expect(await sequence(storage)).toEqual(['1 evt_0', '2 evt_1']);
});

test('handles that cannot be meant are refused with what is wrong', async () => {
  const { file, storage, host } = await shared();
  const begun = (handle: Driver.Database) => handle.exec('BEGIN');
  const refused = (handle: unknown) => expect(() => storage.events.within(handle));
  refused('BEGIN').toThrow(
    new TypeError('transaction: has to be a Database of better-sqlite3 that is in a transaction'),
  );
  refused({ query: () => undefined }).toThrow(/has to be a Database of better-sqlite3/);
  refused(host).toThrow(
    new TypeError('transaction: the database handle is in no transaction; begin one first'),
  );

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

test('what was begun and has ended takes no more events', async () => {
  const { storage, host } = await shared();
  const outbox = host.transaction(() => storage.events.within(host))();
  expect(() => outbox.publish([sampleEvent('late')])).toThrow(/in no transaction/);
  expect(() => outbox.partnersHolding({ sub: 'ada', scope: 'kyc' })).toThrow(/in no transaction/);
  expect(await sequence(storage)).toEqual([]);
  host.transaction(() => outbox.publish([sampleEvent('next')]))();
  expect(await sequence(storage)).toEqual(['1 evt_next']);
});

test('a storage that is not open refuses', async () => {
  const { file, storage, host } = await shared();
  host.exec('BEGIN');
  const unopened = sqliteStorage({ file });
  const unavailable = expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' });
  expect(() => unopened.events.within(host)).toThrow(unavailable);
  await storage.close();
  expect(() => storage.events.within(host)).toThrow(unavailable);
});

test('publications of ours wait for a host’s transaction, and neither fails nor leaves a gap', async () => {
  const timing = fakeTiming();
  const { storage, host, addUser, users } = await shared((file) => storageOn(new Database({ file, timing })));
  const names = Array.from({ length: 30 }, (_, index) => `${index}`);
  const ours = names.map((name) =>
    storage.events.publish([sampleEvent(`ours ${name}`)], { idempotency: null, now: 1 }),
  );
  for (const name of names) {
    host.exec('BEGIN IMMEDIATE');
    addUser(name);
    storage.events.within(host).publish([sampleEvent(`host ${name}`)]);
    // The lock is held while the event loop turns: ours are refused by SQLite and try again.
    await setImmediate();
    await setImmediate();
    host.exec(Number(name) % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
    ours.push(storage.events.publish([sampleEvent(`later ${name}`)], { idempotency: null, now: 1 }));
    await setImmediate();
  }
  expect(timing.elapsed(), 'ours had to wait').toBeGreaterThan(0);
  expect(await Promise.all(ours)).toEqual(ours.map(() => ({ outcome: 'published' })));
  const { events } = await storage.events.list({ ...acme, after: 0, limit: 1000 });
  expect(events.map((event) => event.sequence)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
  expect(events.filter(({ id }) => id.startsWith('evt_host')).map(({ id }) => id.slice(9))).toEqual(users());
});

test('a transaction that began to read too early is refused, and can be tried again', async () => {
  const { storage, host, addUser, users } = await shared();
  const change = host.transaction(() => {
    host.prepare('SELECT count(*) FROM users').get();
    if (users().length === 0) interrupt();
    storage.events.within(host).publish([sampleEvent('Ada')]);
    addUser('Ada');
  });
  const other = new Driver(host.name);
  const interrupt = () => other.exec("INSERT INTO users VALUES ('Grace')");
  expect(change).toThrow(expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' }));
  other.close();
  expect(users()).toEqual(['Grace']);
  expect(await sequence(storage)).toEqual([]);
  change.immediate();
  expect(await sequence(storage)).toEqual(['1 evt_Ada']);
});
