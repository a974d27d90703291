import { Client } from 'pg';

/** State of the accounts in the payment rail's ledger. */
export interface Books {
  readonly transfers: number;
  readonly failed: number;
  /** Number of movements, accounts and currencies whose amounts do not add up, and of overdrawn accounts. */
  readonly disorders: number;
  /** Funds of the partner in HTG, in minor units. */
  readonly funds: bigint;
}

const books = `
  SELECT
    (SELECT count(*) FROM app.movements WHERE kind = 'transfer') AS transfers,
    (SELECT count(*) FROM app.executions WHERE failure IS NOT NULL) AS failed,
    (SELECT count(*) FROM (
      SELECT movement_id FROM app.postings GROUP BY movement_id HAVING sum(amount) <> 0 OR count(*) <> 2
      UNION ALL SELECT id FROM app.movements WHERE id NOT IN (SELECT movement_id FROM app.postings)
      UNION ALL SELECT currency FROM app.accounts GROUP BY currency HAVING sum(balance) <> 0
      UNION ALL SELECT id::text FROM app.accounts WHERE kind <> 'external' AND balance < 0
      UNION ALL SELECT id::text FROM app.accounts AS a
        WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM app.postings WHERE account_id = a.id)
    ) AS found) AS disorders,
    (SELECT coalesce(sum(balance), 0) FROM app.accounts
     WHERE kind = 'partner' AND owner = $1 AND currency = 'HTG') AS funds`;

/** Reads the ledger's accounts directly from the database. */
export async function readBooks(databaseUrl: string, partner: string): Promise<Books> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Record<keyof Books, string>>(books, [partner]);
    const [row] = rows;
    if (row === undefined) throw new Error('the database answered nothing');
    return {
      transfers: Number(row.transfers),
      failed: Number(row.failed),
      disorders: Number(row.disorders),
      funds: BigInt(row.funds),
    };
  } finally {
    await client.end();
  }
}

/**
 * Query for movements, accounts and currencies of the reference server's ledger on SQLite that do not add up.
 */
export const sqliteDisorders = `
  SELECT movement_id AS what FROM app_postings GROUP BY movement_id HAVING sum(amount) <> 0 OR count(*) <> 2
  UNION ALL SELECT id FROM app_movements WHERE id NOT IN (SELECT movement_id FROM app_postings)
  UNION ALL SELECT currency FROM app_accounts GROUP BY currency HAVING sum(balance) <> 0
  UNION ALL SELECT id FROM app_accounts AS a
    WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM app_postings WHERE account_id = a.id)`;
