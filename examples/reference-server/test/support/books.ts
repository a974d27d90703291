import { expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';

/** SQL queries for violations of the ledger's rules. Each must return nothing. */
const disorders = {
  'a movement without two postings that add up to zero': `
    SELECT movement_id FROM app_postings GROUP BY movement_id HAVING sum(amount) <> 0 OR count(*) <> 2`,
  'a movement without postings': `
    SELECT id FROM app_movements WHERE id NOT IN (SELECT movement_id FROM app_postings)`,
  'a currency that does not add up to zero': `
    SELECT currency FROM app_accounts GROUP BY currency HAVING sum(balance) <> 0`,
  'an overdraft': `SELECT id FROM app_accounts WHERE kind <> 'external' AND balance < 0`,
  'a balance that is not the sum of its postings': `
    SELECT id FROM app_accounts AS a
    WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM app_postings WHERE account_id = a.id)`,
  'a posting in another currency': `
    SELECT p.movement_id FROM app_postings AS p
    JOIN app_accounts AS a ON a.id = p.account_id JOIN app_movements AS m ON m.id = p.movement_id
    WHERE a.currency <> m.currency`,
  'a transfer that was paid and called failed, or called completed and not paid': `
    SELECT m.id FROM app_movements AS m JOIN app_executions AS e ON e.transfer_id = m.id WHERE failure IS NOT NULL
    UNION SELECT transfer_id FROM app_executions
    WHERE failure IS NULL AND transfer_id NOT IN (SELECT id FROM app_movements)`,
};

/** Checks that the ledger breaks none of its rules. */
export async function expectBalanced(database: Database): Promise<void> {
  for (const [disorder, sql] of Object.entries(disorders))
    expect([disorder, await database.all(sql)]).toEqual([disorder, []]);
}
