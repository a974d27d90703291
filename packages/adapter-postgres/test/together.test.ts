import { setTimeout as pause } from 'node:timers/promises';
import type { Storage } from '@ostiary/core/storage';
import type { QueryConfig } from 'pg';
import { expect, test } from 'vitest';
import {
  create,
  sampleClaim,
  sampleEvent,
  samplePartner,
  sampleTransfer,
} from '../../testing/src/contract/partner-samples.ts';
import {
  issued,
  redeem,
  sampleClient,
  sampleGrant,
  sampleToken,
} from '../../testing/src/contract/samples.ts';
import type { PostgresPool } from '../src/index.ts';
import { serverForTests } from './server.ts';

// Calls of one process that wait for each other become one statement, which must not harm any of them.

const server = serverForTests({ onlyRows: true });

async function prepared(own: Parameters<typeof server.watched>[0] = {}) {
  const stage = await server.watched(own);
  await stage.storage.partners.insert(samplePartner());
  await stage.storage.clients.insert(sampleClient({ partner: 'acme' }));
  stage.watched.ran();
  return stage;
}

async function publish(storage: Storage, label: string, partner = 'acme') {
  const event = sampleEvent(label, { partner });
  return (await storage.events.publish([event], { idempotency: null, now: 1_000 })).outcome;
}

const sequences = async (storage: Storage, partner: string) =>
  (await storage.events.list({ partner, mode: 'live', after: 0, limit: 500 })).events.map(
    ({ sequence }) => sequence,
  );

const paid = (label: string, key: string | null, reference: string | null = null) =>
  [
    sampleTransfer(label, { reference }),
    key === null ? null : sampleClaim(key, { answer: { status: 201, body: label } }),
  ] as const;

test('payments that wait for each other are two statements, and each is stored with its record and its job', async () => {
  const { storage, watched } = await prepared();
  const labels = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const made = await Promise.all(labels.map((label) => create(storage, ...paid(label, label))));
  expect(new Set(made.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
  expect(watched.ran()).toHaveLength(2);
  const again = await Promise.all(labels.map((label) => create(storage, ...paid(`${label}x`, label))));
  expect(again).toEqual(
    labels.map((label) => ({ outcome: 'replayed', answer: { status: 201, body: label } })),
  );
  const jobs = await storage.queue.claim({
    kinds: ['transfer'],
    claimId: 'c',
    now: 1e15,
    leaseMs: 1,
    limit: 500,
  });
  expect(jobs).toHaveLength(100);
});

test('events that wait for one sequence are two statements, in the order of the calls', async () => {
  const { storage, watched } = await prepared();
  const labels = Array.from({ length: 100 }, (_, index) => `e${index}`);
  expect(new Set(await Promise.all(labels.map((label) => publish(storage, label))))).toEqual(
    new Set(['published']),
  );
  expect(watched.ran()).toHaveLength(2);
  const { events } = await storage.events.list({ partner: 'acme', mode: 'live', after: 0, limit: 500 });
  expect(events.map(({ id, sequence }) => [id, sequence])).toEqual(
    labels.map((label, index) => [sampleEvent(label).id, index + 1]),
  );
});

test('one event that cannot be stored hurts no other, and the sequence has no gap', async () => {
  const { storage } = await prepared();
  await publish(storage, 'known');
  const made = await Promise.allSettled(
    ['first', 'a', 'known', 'b', 'c'].map((label) => publish(storage, label)),
  );
  expect(made.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(await sequences(storage, 'acme')).toEqual([1, 2, 3, 4, 5]);
});

test('events of a partner whose sequence somebody else holds wait for it, and keep no other partner waiting', async () => {
  const { storage, holding } = await prepared();
  await storage.partners.insert(samplePartner({ slug: 'globex' }));
  await publish(storage, 'before');
  const other = await holding("SELECT FROM ostiary.event_sequences WHERE partner = 'acme' FOR UPDATE");
  const waiting = Array.from({ length: 64 }, (_, index) => publish(storage, `w${index}`));
  await Promise.all(Array.from({ length: 20 }, (_, index) => publish(storage, `g${index}`, 'globex')));
  expect(await sequences(storage, 'acme')).toEqual([1]);
  await other.query('ROLLBACK');
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['published']));
  expect(await sequences(storage, 'acme')).toEqual(Array.from({ length: 65 }, (_, index) => index + 1));
  expect(await sequences(storage, 'globex')).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test('a call that has waited for others is refused within its own time limit', async () => {
  const { storage, schema, watched, holding, waiting } = await prepared({ schema: server.nextSchema() });
  await publish(storage, 'before');
  // The second event waits for another lock than that of its sequence.
  await watched.own.query(`
    CREATE FUNCTION "${schema}".wait() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN new; END';
    CREATE TRIGGER wait BEFORE INSERT ON "${schema}".events
      FOR EACH ROW WHEN (new.id = 'evt_behind') EXECUTE FUNCTION "${schema}".wait()
  `);
  const second = await holding('SELECT pg_advisory_xact_lock(7)');
  const first = await holding("SELECT FROM ostiary.event_sequences WHERE partner = 'acme' FOR UPDATE");
  const start = performance.now();
  const ahead = publish(storage, 'ahead');
  const behind = publish(storage, 'behind').catch((error: unknown) => error);
  await waiting(1);
  await pause(1_000);
  await first.query('ROLLBACK');
  expect(await ahead).toBe('published');
  expect(await behind).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  // The call does not get another 1,500 ms after the end of the call ahead.
  expect(performance.now() - start).toBeLessThan(2_400);
  await second.query('ROLLBACK');
  expect(await sequences(storage, 'acme')).toEqual([1, 2]);
});

test('payments that wait for each other each get the result that they would get alone', async () => {
  const { storage } = await prepared();
  await create(storage, ...paid('known', 'known', 'order 1'));
  const made = await Promise.all([
    create(storage, ...paid('first', null)),
    create(storage, ...paid('a', 'one key')),
    create(storage, ...paid('b', 'one key')),
    create(storage, ...paid('c', null, 'order 2')),
    create(storage, ...paid('d', null, 'order 2')),
    create(storage, ...paid('e', null, 'order 1')),
    create(storage, ...paid('f', 'known', 'order 1')),
    create(storage, ...paid('g', 'free', 'order 1')),
    create(storage, ...paid('h', 'own')),
  ]);
  expect(made[0]).toEqual({ outcome: 'created' });
  expect(
    made
      .slice(1, 3)
      .map(({ outcome }) => outcome)
      .sort(),
  ).toEqual(['created', 'replayed']);
  expect(
    made
      .slice(3, 5)
      .map(({ outcome }) => outcome)
      .sort(),
  ).toEqual(['created', 'reference_conflict']);
  expect(made[5]).toEqual({ outcome: 'reference_conflict', transferId: 'tr_known' });
  expect(made[6]).toEqual({ outcome: 'replayed', answer: { status: 201, body: 'known' } });
  expect(made[7]).toEqual({ outcome: 'reference_conflict', transferId: 'tr_known' });
  expect(made[8]).toEqual({ outcome: 'created' });
  // A refused call leaves no record of its key.
  expect(await create(storage, ...paid('i', 'free'))).toEqual({ outcome: 'created' });
});

test('a payment whose key another transaction holds does not delay other payments', async () => {
  const { storage, holding } = await prepared();
  const other = await holding(`
    INSERT INTO ostiary.idempotency_records (partner, mode, key, fingerprint, status, body, ends_at)
    VALUES ('acme', 'live', 'held', decode(repeat('00', 32), 'hex'), 201, '', 9000000000000)
  `);
  const start = performance.now();
  // The same holds if that call comes first, and the others must wait for it.
  const held = create(storage, ...paid('held', 'held'));
  const first = create(storage, ...paid('first', 'free'));
  const others = Array.from({ length: 20 }, (_, index) => create(storage, ...paid(`p${index}`, `p${index}`)));
  for (const outcome of await Promise.all([first, ...others]))
    expect(outcome).toEqual({ outcome: 'created' });
  const waitedMs = performance.now() - start;
  expect(await held).toEqual({ outcome: 'in_progress' });
  expect(performance.now() - start).toBeGreaterThan(waitedMs + 500);
  await other.query('ROLLBACK');
});

test('codes that are issued at once for one consent wait for each other, and not in a circle', async () => {
  const { storage, watched } = await prepared();
  for (let round = 0; round < 10; round += 1) {
    const sub = `user ${round}`;
    await storage.consents.remember({ sub, clientId: 'client-1', scopes: ['openid', 'profile'], now: 1_000 });
    const grants = Array.from({ length: 10 }, (_, index) => sampleGrant(`${sub} ${index}`, { sub }));
    expect(await Promise.all(grants.map((grant) => storage.grants.issue(grant)))).toEqual(
      grants.map(() => true),
    );
  }
  expect(watched.refusals).toEqual([]);
});

test('codes redeemed at the same time take two statements, and a code that another transaction holds does not delay the others', async () => {
  const { storage, watched, holding } = await prepared();
  const labels = Array.from({ length: 20 }, (_, index) => `c${index}`);
  for (const label of labels) await issued(storage, label);
  await issued(storage, 'held');
  const redeemed = (label: string, token = label) =>
    redeem(storage, sampleGrant(label), sampleToken(`token ${token}`));
  watched.ran();
  expect(await Promise.all(labels.slice(0, 10).map((label) => redeemed(label)))).toEqual(
    Array.from({ length: 10 }, () => 'redeemed'),
  );
  expect(watched.ran()).toHaveLength(2);
  const held = sampleGrant('held').codeDigest;
  const other = await holding('SELECT FROM ostiary.grants WHERE code_digest = $1 FOR UPDATE', [held]);
  const start = performance.now();
  const waits = redeemed('held');
  const blocked = redeemed('c10');
  const twice = [redeemed('c11', 'a'), redeemed('c11', 'b')];
  const others = labels.slice(12).map((label) => redeemed(label));
  // The first call runs alone, and so do those that wait for it, once it gives up or gets its lock.
  await other.query('ROLLBACK');
  expect(await Promise.all([waits, blocked, ...others])).toEqual(
    Array.from({ length: 10 }, () => 'redeemed'),
  );
  expect((await Promise.all(twice)).sort()).toEqual(['redeemed', 'replayed']);
  expect(performance.now() - start).toBeLessThan(5_000);
});

test('successful calls get their results even if the query for the reason of a failed one fails', async () => {
  const pool: PostgresPool = {
    async connect() {
      const client = await server.pool.connect();
      return {
        query: (asked) =>
          /coalesce\(revoked_at, \$|SELECT id FROM \S+transfers/.test(asked.text)
            ? Promise.reject(new Error('the connection broke'))
            : client.query(asked as QueryConfig),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
        release: (destroy) => client.release(destroy),
      };
    },
  };
  const { storage } = await server.opened({ pool });
  await storage.partners.insert(samplePartner());
  await storage.clients.insert(sampleClient({ partner: 'acme' }));
  for (const label of ['first', 'used', 'won']) await issued(storage, label);
  const redeemed = (label: string, token: string) =>
    redeem(storage, sampleGrant(label), sampleToken(`token ${token}`)).catch((error: Error) => error.name);
  await redeemed('used', 'earlier');
  expect(await Promise.all([redeemed('first', '1'), redeemed('used', '2'), redeemed('won', '3')])).toEqual([
    'redeemed',
    'StorageUnavailableError',
    'redeemed',
  ]);
  await create(storage, ...paid('known', null, 'order 1'));
  const made = await Promise.allSettled([
    create(storage, ...paid('a', null)),
    create(storage, ...paid('b', null, 'order 1')),
    create(storage, ...paid('c', null)),
  ]);
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('jobs that are completed together are each completed by the claim that holds them, once', async () => {
  const { storage, watched } = await prepared();
  const jobs = ['a', 'b', 'c'].map((id) => ({ id, kind: 'k', payload: {}, dueAt: 0 }));
  await storage.queue.enqueue(jobs);
  const claim = (claimId: string, now: number) =>
    storage.queue.claim({ kinds: ['k'], claimId, now, leaseMs: 10, limit: 9 });
  await claim('late', 0);
  await claim('held', 10);
  watched.ran();
  const completed = await Promise.all(
    ['first held', 'a late', 'a held', 'a held', 'b late', 'c held', 'd held'].map((one) => {
      const [id = '', claimId = ''] = one.split(' ');
      return storage.queue.complete({ id, claimId });
    }),
  );
  expect(completed).toEqual([false, false, true, false, false, true, false]);
  expect(watched.ran()).toHaveLength(2);
  expect((await claim('next', 20)).map(({ id }) => id)).toEqual(['b']);
});
