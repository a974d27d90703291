import { expect, it } from 'vitest';
import { minute, now } from '../../testing/src/contract/samples.ts';
import { claimedOne, finish, published, registered } from '../../testing/src/contract/webhook-samples.ts';
import { allWaiting, holding } from './locks.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

it('a success does not undo a failure of the endpoint that is stored beside it', async () => {
  const { schema, storage } = await server.opened();
  await registered(storage, 'a');
  await published(storage, 'x');
  const dueAt = now + minute;
  await finish(storage, await claimedOne(storage, 'c1'), { status: 'pending', dueAt });
  const claimed = await claimedOne(storage, 'c2', { now: dueAt });
  const other = await holding(server.url, `UPDATE "${schema}".endpoint_failures SET at = at + 1`);
  const success = finish(storage, claimed, { status: 'delivered' });
  await allWaiting(server.pool, schema, [success]);
  await other.query('COMMIT');
  await success;
  const { rows } = await server.pool.query(
    `SELECT since IS NOT NULL AS fails FROM "${schema}".endpoint_failures`,
  );
  expect(rows).toEqual([{ fails: true }]);
});
