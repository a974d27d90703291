import { describe, expect, it } from 'vitest';
import { handedBack } from '../../core/src/webhooks/attempt.ts';
import { minute, now } from '../../testing/src/contract/samples.ts';
import {
  claim,
  claimedIds,
  claimedOne,
  finish,
  leaseMs,
  published,
  registered,
} from '../../testing/src/contract/webhook-samples.ts';
import { allWaiting, holding } from './locks.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

describe('a claim does not wait', () => {
  it('for the row of an endpoint that another claim has locked, and leaves out its deliveries', async () => {
    const { schema, storage } = await server.opened();
    for (const label of ['a', 'b']) await registered(storage, label);
    await published(storage, 'x');
    const other = await holding(
      server.url,
      `SELECT FROM "${schema}".endpoint_queues WHERE endpoint_id = 'we_a' FOR UPDATE`,
    );
    const found = (await claim(storage, 'c1')).map(({ endpointId }) => endpointId);
    expect(found).toEqual(['we_b']);
    await other.query('ROLLBACK');
    expect((await claim(storage, 'c2')).map(({ endpointId }) => endpointId)).toEqual(['we_a']);
  });

  it('for a delivery whose result is just being stored, and finds it later', async () => {
    const { schema, storage } = await server.opened();
    await registered(storage, 'a');
    for (const label of ['x', 'y']) await published(storage, label);
    const dueAt = now + minute;
    for (const failed of await claim(storage, 'c'))
      await finish(storage, failed, { status: 'pending', dueAt });
    const other = await holding(
      server.url,
      `SELECT FROM "${schema}".pending_deliveries WHERE id = 'dl_x_1' FOR UPDATE`,
    );
    expect(await claimedIds(storage, 'c1', { now: dueAt })).toEqual(['dl_y_1']);
    await other.query('ROLLBACK');
    expect(await claimedIds(storage, 'c2', { now: dueAt })).toEqual(['dl_x_1']);
  });

  it('for the row of an endpoint whose deliveries have all ended', async () => {
    const { schema, storage } = await server.opened();
    await registered(storage, 'a');
    await published(storage, 'x');
    for (const delivered of await claim(storage, 'c'))
      await finish(storage, delivered, { status: 'delivered' });
    const other = await holding(
      server.url,
      `SELECT FROM "${schema}".endpoint_queues WHERE endpoint_id = 'we_a' FOR UPDATE`,
    );
    expect(await claimedIds(storage, 'c1', { now: now + leaseMs })).toEqual([]);
    await other.query('ROLLBACK');
    expect(await claimedIds(storage, 'c2', { now: now + leaseMs })).toEqual([]);
    const { rows } = await server.pool.query(`SELECT next_due FROM "${schema}".endpoint_queues`);
    expect(rows, 'later claims do not read the endpoint again').toEqual([{ next_due: null }]);
  });
});

describe('a claim that began before another call', () => {
  /**
   * Adds `late_claim` to a schema: the function of claims with a pause after the time from which PostgreSQL
   * shows it no later changes, for as long as somebody else holds an advisory lock.
   */
  async function addLateClaim(schema: string): Promise<void> {
    const { rows } = await server.pool.query<{ definition: string }>(
      'SELECT pg_get_functiondef($1::regproc) AS definition',
      [`"${schema}".claim_deliveries`],
    );
    const definition = rows[0]?.definition ?? '';
    const late = definition
      .replace('claim_deliveries(', 'late_claim(')
      .replace('WHERE has_news', 'WHERE has_news AND (SELECT pg_advisory_xact_lock_shared(1)) IS NOT NULL');
    await server.pool.query(late);
  }

  /** Starts a claim that stands still until the returned function is called, which returns the claimed ids. */
  async function lateClaim(schema: string): Promise<() => Promise<string[]>> {
    await addLateClaim(schema);
    const lock = await holding(server.url, 'SELECT pg_advisory_xact_lock(1)');
    const late = server.pool.query<{ id: string | null }>(
      `SELECT id FROM "${schema}".late_claim('late', $1, $2, 100, 100, '{}', NULL, NULL, '{}')`,
      [now, now + leaseMs],
    );
    await allWaiting(server.pool, schema, [late]);
    return async () => {
      await lock.query('ROLLBACK');
      return (await late).rows.flatMap(({ id }) => id ?? []);
    };
  }

  it('does not take what another claim has taken since', async () => {
    const { schema, storage } = await server.opened();
    await registered(storage, 'a');
    await published(storage, 'x');
    const late = await lateClaim(schema);
    expect(await claimedIds(storage, 'c1')).toEqual(['dl_x_1']);
    expect(await late()).toEqual([]);
    const { rows } = await server.pool.query(`SELECT claim_id, attempts FROM "${schema}".pending_deliveries`);
    expect(rows).toEqual([{ claim_id: 'c1', attempts: 0 }]);
  });

  it('does not delay what was handed back since', async () => {
    const { schema, storage } = await server.opened();
    await registered(storage, 'a');
    await published(storage, 'x');
    const claimed = await claimedOne(storage, 'c1');
    await published(storage, 'y');
    const late = await lateClaim(schema);
    await storage.deliveries.finish([handedBack(claimed, now)]);
    expect(await late()).toEqual([]);
    expect((await claimedIds(storage, 'c2')).toSorted()).toEqual(['dl_x_1', 'dl_y_1']);
  });
});
