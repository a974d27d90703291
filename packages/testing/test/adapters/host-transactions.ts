import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { acme, sampleEvent, samplePartner } from '../../src/contract/partner-samples.ts';
import { consented, now, sampleClient } from '../../src/contract/samples.ts';
import { listedIds } from '../../src/contract/webhook-samples.ts';

/**
 * A storage with the endpoint `we_1`, and a host application's connection to its database, which has a table
 * of the host.
 */
export interface HostStage {
  readonly storage: Storage;
  /** Argument that the host application passes to `events.within`. */
  readonly handle: unknown;
  /** Runs SQL on the host application's connection, whose search path includes the storage's tables. */
  execute(sql: string): unknown;
  addUser(name: string): unknown;
  users(): unknown;
  /**
   * Sets an unusual number format and search path on the host application's connection, if the database has
   * such settings.
   */
  speakOtherwise(): unknown;
}

/** Publishes an event outside of all transactions of the host application. */
export function publish({ events }: Storage, label: string) {
  return events.publish([sampleEvent(label)], { idempotency: null, now });
}

/** Returns the ids of the published events in order. Throws if a sequence number is missing. */
export async function sequence({ events }: Storage): Promise<string[]> {
  const { events: all } = await events.list({ ...acme, after: 0, limit: 100_000 });
  expect(all.map((event) => event.sequence)).toEqual(all.map((_, index) => index + 1));
  return all.map(({ id }) => id);
}

export const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

/** Defines the tests of publishing in a host application's transaction, for the adapters of all databases. */
export function hostTransactionTests(stage: () => Promise<HostStage>): void {
  test('an event commits with the host’s change, and is not visible before', async () => {
    const { storage, handle, execute, addUser, users } = await stage();
    await execute('BEGIN');
    await addUser('Ada');
    await storage.events.within(handle).publish([sampleEvent('Ada'), sampleEvent('Ada again')]);
    expect(await sequence(storage)).toEqual([]);
    await execute('COMMIT');
    expect(await users()).toEqual(['Ada']);
    expect(await sequence(storage)).toEqual(['evt_Ada', 'evt_Ada again']);
    expect((await listedIds(storage)).toSorted()).toEqual(['dl_Ada again_1', 'dl_Ada_1']);
    const { deliveryId: _, ...stored } = sampleEvent('Ada');
    expect(await storage.events.find(acme, 'evt_Ada')).toEqual({ ...stored, sequence: 1 });
  });

  test('a transaction that is rolled back leaves nothing, and no number is lost', async () => {
    const { storage, handle, execute, addUser, users } = await stage();
    await publish(storage, 'first');
    await execute('BEGIN');
    await addUser('Ada');
    await storage.events.within(handle).publish([sampleEvent('Ada')]);
    await execute('ROLLBACK');
    expect(await users()).toEqual([]);
    expect(await sequence(storage)).toEqual(['evt_first']);
    expect(await listedIds(storage)).toEqual(['dl_first_1']);
    await publish(storage, 'Ada');
    expect(await sequence(storage)).toEqual(['evt_first', 'evt_Ada']);
  });

  test('events that cannot be stored are rolled back alone, and the host can continue', async () => {
    const { storage, handle, execute, addUser, users } = await stage();
    await publish(storage, 'taken');
    await execute('BEGIN');
    await addUser('Ada');
    const outbox = storage.events.within(handle);
    const refused = async () => outbox.publish([sampleEvent('a'), sampleEvent('taken')]);
    await expect(refused()).rejects.toMatchObject(unavailable);
    await outbox.publish([sampleEvent('b')]);
    await execute('COMMIT');
    expect(await users()).toEqual(['Ada']);
    expect(await sequence(storage)).toEqual(['evt_taken', 'evt_b']);
  });

  test('the partners with access to a user are read inside the transaction', async () => {
    const { storage, handle, execute } = await stage();
    await storage.partners.insert(samplePartner());
    await storage.clients.insert(sampleClient({ partner: 'acme' }));
    await consented(storage, { sub: 'ada', scopes: ['kyc'] });
    await execute('BEGIN');
    const outbox = storage.events.within(handle);
    expect(await outbox.partnersHolding({ sub: 'ada', scope: 'kyc' })).toEqual(['acme']);
    await execute('UPDATE partners SET disabled_at = 2');
    expect(await outbox.partnersHolding({ sub: 'ada', scope: 'kyc' }), 'sees what the host did').toEqual([]);
    await execute('ROLLBACK');
  });

  test('what the host set on its connection does not matter', async () => {
    const { storage, handle, execute, speakOtherwise } = await stage();
    await speakOtherwise();
    await execute('BEGIN');
    await storage.events.within(handle).publish([sampleEvent('a'), sampleEvent('b')]);
    await execute('COMMIT');
    expect(await sequence(storage)).toEqual(['evt_a', 'evt_b']);
    expect((await listedIds(storage)).toSorted()).toEqual(['dl_a_1', 'dl_b_1']);
  });

  test('a handle in no transaction is refused, before and after one, and nothing is written', async () => {
    const { storage, handle, execute } = await stage();
    const none = expect.objectContaining({
      name: 'TypeError',
      message: expect.stringMatching(/^transaction: the .* is in no transaction; begin one first$/),
    });
    const tooEarly = async () => storage.events.within(handle).publish([sampleEvent('early')]);
    await expect(tooEarly()).rejects.toEqual(none);
    await execute('BEGIN');
    const outbox = storage.events.within(handle);
    await outbox.publish([sampleEvent('in time')]);
    await execute('COMMIT');
    const late = async () => outbox.publish([sampleEvent('late')]);
    await expect(late()).rejects.toEqual(none);
    const lookedUp = async () => outbox.partnersHolding({ sub: 'ada', scope: 'kyc' });
    await expect(lookedUp()).rejects.toEqual(none);
    await execute('BEGIN');
    await outbox.publish([sampleEvent('next')]);
    await execute('COMMIT');
    expect(await sequence(storage)).toEqual(['evt_in time', 'evt_next']);
  });

  test('a storage that is closed refuses', async () => {
    const { storage, handle, execute } = await stage();
    await execute('BEGIN');
    await storage.close();
    expect(() => storage.events.within(handle)).toThrow(expect.objectContaining(unavailable));
    await execute('ROLLBACK');
  });
}
