import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { webhookProvider } from '../../../packages/core/test/partner/webhook-shop.ts';
import { temporaryDatabase } from '../../../packages/core/test/support/partner-api.ts';
import type { Json } from '../../../packages/core/test/support/provider.ts';

const schema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      (value as Json).orderId === 'bad' ? { issues: [{ message: 'is bad', path: ['orderId'] }] } : { value },
  },
} as const;

/** Starts an application with its own table in Ostiary's database file, and its own connection. */
async function shop() {
  const file = temporaryDatabase();
  const { provider } = await webhookProvider({
    storage: sqliteStorage({ file }),
    events: { 'order.shipped': { schema, example: {} } },
  });
  const key = await provider.key();
  const { partner } = key;
  const { connection, close } = await openSqlite(file);
  onTestFinished(close);
  connection.exec('CREATE TABLE orders (id TEXT NOT NULL)');
  const ship = (orderId: string, event: Json = {}) => {
    connection.prepare('INSERT INTO orders (id) VALUES (?)').run(orderId);
    return provider.ostiary.events.publish(
      { partner, type: 'order.shipped', data: { orderId }, ...event },
      { transaction: connection },
    );
  };
  const events = async (by = key) =>
    ((await provider.partnerCall(by, 'GET /v1/partner/events?limit=100')).json().data as Json[]).map(
      ({ sequence, data }) => [sequence, (data as Json).orderId ?? (data as Json).kid],
    );
  const orders = () => connection.prepare('SELECT id FROM orders ORDER BY id').pluck().all();
  return { provider, key, partner, connection, ship, events, orders };
}

// Tests of core. The tests of the adapters cover a storage within a transaction of the host.
describe('an event in the host’s own transaction', () => {
  it('goes with the savepoint in which it was published, and with the transaction', async () => {
    const { connection, ship, events, orders } = await shop();
    const failing = connection.transaction((orderId: string) => {
      void ship(orderId);
      throw new Error('no stock');
    });
    expect(() => failing('o-1')).toThrow('no stock');
    connection.transaction(() => {
      void ship('o-2');
      expect(() => failing('o-3')).toThrow('no stock');
      void ship('o-4');
    })();
    expect([await events(), orders()]).toEqual([
      [
        [1, 'o-2'],
        [2, 'o-4'],
      ],
      ['o-2', 'o-4'],
    ]);
  });

  it('that cannot be published is thrown at once, so that a synchronous transaction is rolled back', async () => {
    const { connection, ship, events, orders } = await shop();
    for (const [event, message] of [
      [{ type: 'order.lost' }, 'type'],
      [{ type: 'payment.completed' }, 'type'],
      [{ data: { orderId: 'bad' } }, 'data.orderId'],
      [{ partner: 'No Slug' }, 'partner'],
      [{ mode: 'other' }, 'mode'],
    ] as const)
      expect(connection.transaction(() => void ship('o-1', event))).toThrow(message);
    expect(() => ship('o-1')).toThrow(/in no transaction/);
    connection.exec(
      "CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    );
    expect(connection.transaction(() => void ship('o-2'))).toThrow(
      expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' }),
    );
    // The call outside of a transaction has stored this order.
    expect([await events(), orders()]).toEqual([[], ['o-1']]);
  });
});

it('a change of an identity check notifies the partners with consent and the named ones when it commits', async () => {
  const { provider, key, partner, connection, events } = await shop();
  const change = {
    sub: 'user-ana',
    kid: 'KID-ANA',
    kycStatus: 'approved',
    kycTier: 2,
    previous: { kycStatus: 'pending', kycTier: 1 },
  } as const;
  const named = await provider.key();
  await provider.token(await provider.client({ partner }), 'openid kyc');
  const tell = (changes: object = {}) =>
    provider.ostiary.users.kycChanged({ ...change, ...changes }, { transaction: connection });
  const partners = [named.partner];
  connection.exec('BEGIN');
  await tell({ partners });
  connection.exec('ROLLBACK');
  expect([await events(), await events(named)]).toEqual([[], []]);
  connection.exec('BEGIN');
  const told = await tell({ partners });
  connection.exec('COMMIT');
  expect(told.map((event) => event.partner).sort()).toEqual([partner, named.partner].sort());
  expect([await events(key), await events(named)]).toEqual([[[1, 'KID-ANA']], [[1, 'KID-ANA']]]);
  // Without a change of the state, there is no event to publish, in a transaction or not.
  expect(await tell({ previous: { kycStatus: change.kycStatus, kycTier: change.kycTier } })).toEqual([]);
});
