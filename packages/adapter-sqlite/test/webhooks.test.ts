import { expect, test } from 'vitest';
import { created } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import { claimedOne, finish, published, registered } from '../../testing/src/contract/webhook-samples.ts';
import { refusedRowTests } from '../../testing/test/adapters/refused-rows.ts';
import { openDatabase } from './temporary.ts';

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };
test('the tables refuse what would break the sequence, the log, the outbox or the references', async () => {
  const { storage, execute } = await openDatabase();
  await registered(storage, '1');
  for (const label of ['1', '2']) {
    await published(storage, label);
    await created(storage, label);
  }
  await finish(storage, await claimedOne(storage, 'c'), { status: 'pending', dueAt: now });
  const broken = {
    'UPDATE events SET sequence = 2 WHERE sequence = 1': 'SQLITE_CONSTRAINT_UNIQUE',
    "UPDATE events SET id = 'evt_2' WHERE sequence = 1": 'SQLITE_CONSTRAINT_UNIQUE',
    'DELETE FROM events WHERE sequence = 1': 'SQLITE_CONSTRAINT_FOREIGNKEY',
    "UPDATE deliveries SET id = 'dl_1_1'": 'SQLITE_CONSTRAINT_UNIQUE',
    "UPDATE deliveries SET status = 'lost'": 'SQLITE_CONSTRAINT_CHECK',
    "UPDATE deliveries SET ready_at = 'soon'": 'SQLITE_CONSTRAINT_DATATYPE',
    'INSERT INTO delivery_attempts SELECT * FROM delivery_attempts': 'SQLITE_CONSTRAINT_PRIMARYKEY',
    "UPDATE webhook_endpoints SET mode = 'both'": 'SQLITE_CONSTRAINT_CHECK',
    "UPDATE transfers SET reference = 'order 7'": 'SQLITE_CONSTRAINT_UNIQUE',
    'UPDATE transfers SET amount = 0': 'SQLITE_CONSTRAINT_CHECK',
  };
  for (const [sql, code] of Object.entries(broken)) {
    await expect(execute(sql), sql).rejects.toMatchObject({ ...unavailable, cause: { code } });
  }
});

refusedRowTests(async () => {
  const { storage, all, execute } = await openDatabase();
  await registered(storage, '1');
  return {
    storage,
    async refuse(table, condition) {
      await execute(`
        CREATE TRIGGER refuse BEFORE INSERT ON ${table} WHEN ${condition}
        BEGIN SELECT RAISE (ABORT, 'not today'); END
      `);
      return () => execute('DROP TRIGGER refuse');
    },
    count: async (table) => (await all(`SELECT 1 FROM ${table}`)).length,
  };
}, 'deliveries');
