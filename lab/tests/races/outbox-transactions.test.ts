import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Connection, openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { payment, temporaryDatabase } from '../../../packages/core/test/support/partner-api.ts';
import type { Json } from '../../../packages/core/test/support/provider.ts';
import { sink } from '../../../packages/core/test/webhooks/support/sink.ts';
import {
  deliveries,
  register,
  trigger,
  webhookProvider,
} from '../../../packages/core/test/webhooks/support/webhook-provider.ts';

const schema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      (value as Json).orderId === 'bad' ? { issues: [{ message: 'is bad', path: ['orderId'] }] } : { value },
  },
} as const;

/** A host with a table of its own in Ostiary's file, and a connection of its own. */
async function shop() {
  const file = temporaryDatabase();
  const { provider, rail } = await webhookProvider({
    storage: sqliteStorage({ file }),
    events: { 'order.shipped': { schema, example: {} } },
  });
  rail.answer = async () => ({ status: 'pending' });
  const key = await provider.key();
  const { partner } = key;
  const { connection, close } = await openSqlite(file);
  onTestFinished(close);
  connection.exec('CREATE TABLE orders (id TEXT NOT NULL)');
  const ship = (orderId: string, transaction: Connection = connection, to = partner) => {
    transaction.prepare('INSERT INTO orders (id) VALUES (?)').run(orderId);
    return provider.ostiary.events.publish(
      { partner: to, type: 'order.shipped', data: { orderId } },
      { transaction },
    );
  };
  const events = async (by = key) =>
    ((await provider.partnerCall(by, 'GET /v1/partner/events?limit=100')).json().data as Json[]).map(
      ({ sequence, data }) => [sequence, (data as Json).orderId ?? (data as Json).kid],
    );
  const orders = () => connection.prepare('SELECT id FROM orders ORDER BY id').pluck().all();
  return { file, provider, key, partner, connection, ship, events, orders };
}

describe('an event in the host’s own transaction', () => {
  it('is there when a synchronous transaction commits, and reaches the endpoints', async () => {
    const { provider, key, connection, ship, events, orders } = await shop();
    const endpoint = await sink();
    const id = await register(provider, key, endpoint.url, { events: ['order.shipped'] });
    const publishing: Promise<unknown>[] = [];
    connection.transaction(() => {
      publishing.push(ship('o-1'), ship('o-2'));
    })();
    const published = (await Promise.all(publishing)) as { id: string }[];
    expect([await events(), orders()]).toEqual([
      [
        [1, 'o-1'],
        [2, 'o-2'],
      ],
      ['o-1', 'o-2'],
    ]);
    expect(await deliveries(provider, key, id)).toHaveLength(2);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received.map(({ headers }) => headers['x-svc-eventid']).sort()).toEqual(
      published.map((event) => event.id).sort(),
    );
  });

  it('was never there when the transaction is rolled back, nor was its number', async () => {
    const { provider, key, connection, ship, events, orders } = await shop();
    const id = await register(provider, key, 'http://127.0.0.1:9/');
    connection.transaction(() => void ship('o-1'))();
    const failing = connection.transaction(() => {
      void ship('o-2');
      void ship('o-3');
      throw new Error('no stock');
    });
    expect(failing).toThrow('no stock');
    connection.exec('BEGIN');
    await ship('o-4');
    connection.exec('ROLLBACK');
    expect([await events(), orders()]).toEqual([[[1, 'o-1']], ['o-1']]);
    expect(await deliveries(provider, key, id)).toHaveLength(1);
    connection.transaction(() => void ship('o-5'))();
    expect(await events()).toEqual([
      [1, 'o-1'],
      [2, 'o-5'],
    ]);
  });

  it('can be waited for in a transaction that is begun by hand, and is not seen before its commit', async () => {
    const { connection, ship, events, orders } = await shop();
    connection.exec('BEGIN IMMEDIATE');
    await ship('o-1');
    expect(await events()).toEqual([]);
    await ship('o-2');
    expect(await events()).toEqual([]);
    connection.exec('COMMIT');
    expect([await events(), orders()]).toEqual([
      [
        [1, 'o-1'],
        [2, 'o-2'],
      ],
      ['o-1', 'o-2'],
    ]);
  });

  it('goes with the savepoint in which it was published', async () => {
    const { connection, ship, events, orders } = await shop();
    const inner = connection.transaction((orderId: string) => {
      void ship(orderId);
      if (orderId === 'o-2') throw new Error('no stock');
    });
    connection.transaction(() => {
      inner('o-1');
      expect(() => inner('o-2')).toThrow('no stock');
      inner('o-3');
    })();
    expect([await events(), orders()]).toEqual([
      [
        [1, 'o-1'],
        [2, 'o-3'],
      ],
      ['o-1', 'o-3'],
    ]);
  });

  it('that cannot be published is thrown at once, so that a synchronous transaction is rolled back', async () => {
    const { provider, partner, connection, ship, events, orders } = await shop();
    const publish = (event: Json) =>
      connection.transaction(() => {
        connection.prepare('INSERT INTO orders (id) VALUES (?)').run('o-1');
        void provider.ostiary.events.publish(
          { partner, type: 'order.shipped', data: {}, ...event },
          {
            transaction: connection,
          },
        );
      });
    for (const [event, message] of [
      [{ type: 'order.lost' }, 'type'],
      [{ type: 'payment.completed' }, 'type'],
      [{ data: { orderId: 'bad' } }, 'data.orderId'],
      [{ partner: 'No Slug' }, 'partner'],
      [{ mode: 'other' }, 'mode'],
    ] as const)
      expect(publish(event)).toThrow(message);
    expect([await events(), orders()]).toEqual([[], []]);
    // Whoever catches it may go on.
    connection.transaction(() => {
      expect(() => ship('bad')).toThrow('is bad');
      void ship('o-2');
    })();
    expect([await events(), orders()]).toEqual([[[1, 'o-2']], ['bad', 'o-2']]);
  });

  it('of which the database refuses a part is not there at all, and the host may go on', async () => {
    const { provider, key, connection, ship, events, orders } = await shop();
    const id = await register(provider, key, 'http://127.0.0.1:9/');
    connection.exec(
      "CREATE TRIGGER broken BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    );
    connection.transaction(() => {
      expect(() => ship('o-1')).toThrow(expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' }));
    })();
    expect([await events(), orders()]).toEqual([[], ['o-1']]);
    connection.exec('DROP TRIGGER broken');
    connection.transaction(() => void ship('o-2'))();
    expect([await events(), (await deliveries(provider, key, id)).length]).toEqual([[[1, 'o-2']], 1]);
  });

  it('has to be a transaction on this very database', async () => {
    const { provider, connection, ship, events, file } = await shop();
    const other = await openSqlite(temporaryDatabase());
    onTestFinished(() => other.close());
    other.connection.exec('CREATE TABLE orders (id TEXT NOT NULL)');
    expect(() => ship('o-1')).toThrow(/in no transaction/);
    other.connection.exec('BEGIN');
    expect(() => ship('o-1', other.connection)).toThrow(/another file/);
    for (const transaction of [
      null,
      {},
      'BEGIN',
      connection.prepare('SELECT 1'),
      provider,
      { inTransaction: true },
    ])
      expect(() =>
        provider.ostiary.users.kycChanged(
          {
            sub: 's',
            kid: 'k',
            kycStatus: 'approved',
            kycTier: 1,
            previous: { kycStatus: 'pending', kycTier: 1 },
          },
          { transaction },
        ),
      ).toThrow(TypeError);
    const closed = await openSqlite(file);
    closed.close();
    expect(() =>
      provider.ostiary.events.publish(
        { partner: 'acme', type: 'order.shipped', data: {} },
        { transaction: closed.connection },
      ),
    ).toThrow(/closed/);
    expect(await events()).toEqual([]);
  });

  it('keeps the sequence without a gap while others publish', async () => {
    const { provider, connection, partner } = await shop();
    const test = await provider.key({ partner, mode: 'test' });
    const publish = (orderId: string) =>
      provider.ostiary.events.publish(
        { partner, mode: 'test', type: 'order.shipped', data: { orderId } },
        { transaction: connection },
      );
    for (let round = 0; round < 5; round += 1) {
      connection.exec('BEGIN IMMEDIATE');
      const others = Promise.all(Array.from({ length: 10 }, () => trigger(provider, test)));
      await publish(`o-${round}`);
      await new Promise((resolve) => setImmediate(resolve));
      connection.exec(round % 2 === 0 ? 'COMMIT' : 'ROLLBACK');
      await others;
    }
    const { data } = (await provider.partnerCall(test, 'GET /v1/partner/events?limit=100')).json();
    expect((data as Json[]).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 53 }, (_, index) => index + 1),
    );
  });
});

describe('a change of an identity check in the host’s own transaction', () => {
  const change = {
    sub: 'user-ana',
    kid: 'KID-ANA',
    kycStatus: 'approved',
    kycTier: 2,
    previous: { kycStatus: 'pending', kycTier: 1 },
  } as const;

  it('is told when the transaction commits, to those who hold the consent then, and to those it names', async () => {
    const { provider, key, partner, connection, events } = await shop();
    const named = await provider.key();
    const stranger = await provider.key();
    await provider.token(await provider.client({ partner }), 'openid kyc');
    const partners = [named.partner];
    connection.exec('BEGIN');
    await provider.ostiary.users.kycChanged({ ...change, partners }, { transaction: connection });
    connection.exec('ROLLBACK');
    expect([await events(), await events(named)]).toEqual([[], []]);
    let told: Promise<readonly { partner: string }[]> = Promise.resolve([]);
    connection.transaction(() => {
      told = provider.ostiary.users.kycChanged({ ...change, partners }, { transaction: connection });
    })();
    expect((await told).map((event) => event.partner).sort()).toEqual([partner, named.partner].sort());
    expect([await events(key), await events(named), await events(stranger)]).toEqual([
      [[1, 'KID-ANA']],
      [[1, 'KID-ANA']],
      [],
    ]);
    await provider.ostiary.users.end('user-ana');
    connection.transaction(() => {
      told = provider.ostiary.users.kycChanged(change, { transaction: connection });
    })();
    expect(await told).toEqual([]);
    // Nothing changed: there is nothing to publish, in a transaction or not.
    const previous = { kycStatus: change.kycStatus, kycTier: change.kycTier };
    expect(
      await provider.ostiary.users.kycChanged({ ...change, previous }, { transaction: connection }),
    ).toEqual([]);
  });
});

describe('a database that fails in the middle of a settlement', () => {
  it.each([
    ['the transfer', 'BEFORE UPDATE ON transfers'],
    ['the event', 'BEFORE INSERT ON events'],
    ['the sequence', 'BEFORE UPDATE ON event_sequences'],
    ['the delivery', 'BEFORE INSERT ON deliveries'],
  ])('at %s changes nothing: no transfer is final without its event', async (_name, moment) => {
    const { provider, key, connection } = await shop();
    const id = await register(provider, key, 'http://127.0.0.1:9/');
    const pay = async () =>
      String((await provider.partnerCall(key, 'POST /v1/partner/payments', payment)).json().id);
    const [first, second] = [await pay(), await pay()];
    await provider.ostiary.payments.settle(first, { status: 'completed' });
    connection.exec(`CREATE TRIGGER broken ${moment} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
    await expect(provider.ostiary.payments.settle(second, { status: 'completed' })).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
    });
    const shown = async () => (await provider.partnerCall(key, `GET /v1/partner/payments/${second}`)).json();
    const listed = async () =>
      ((await provider.partnerCall(key, 'GET /v1/partner/events')).json().data as Json[]).map(
        ({ sequence, data }) => [sequence, (data as Json).id],
      );
    expect(await shown()).toMatchObject({ status: 'pending', completedAt: null });
    expect(await listed()).toEqual([[1, first]]);
    expect(await deliveries(provider, key, id)).toHaveLength(1);
    connection.exec('DROP TRIGGER broken');
    await provider.ostiary.payments.settle(second, { status: 'failed', code: 'no', message: 'No.' });
    expect(await listed()).toEqual([
      [1, first],
      [2, second],
    ]);
    expect(await deliveries(provider, key, id)).toHaveLength(2);
  });
});
