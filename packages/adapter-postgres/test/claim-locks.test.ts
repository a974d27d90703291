import { describe, expect, it } from 'vitest';
import { minute, now } from '../../testing/src/contract/samples.ts';
import {
  claim,
  claimedIds,
  finish,
  leaseMs,
  published,
  registered,
} from '../../testing/src/contract/webhook-samples.ts';
import { holding } from './locks.ts';
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
