/**
 * Query for movements, accounts and currencies of the reference server's ledger on SQLite that do not add up.
 */
export const disorders = `
  SELECT movement_id AS what FROM app_postings GROUP BY movement_id HAVING sum(amount) <> 0 OR count(*) <> 2
  UNION ALL SELECT id FROM app_movements WHERE id NOT IN (SELECT movement_id FROM app_postings)
  UNION ALL SELECT currency FROM app_accounts GROUP BY currency HAVING sum(balance) <> 0
  UNION ALL SELECT id FROM app_accounts AS a
    WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM app_postings WHERE account_id = a.id)`;
