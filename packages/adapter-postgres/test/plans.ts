import type { Ran, WatchedPool } from './watched-pool.ts';

/** A node of a plan, as EXPLAIN tells it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** What the server plans for a statement and its values. */
export async function planOf({ own }: WatchedPool, { text, values }: Ran): Promise<PlanNode> {
  const { rows } = await own.query(`EXPLAIN (FORMAT JSON) ${text}`, [...values]);
  return rows[0]['QUERY PLAN'][0].Plan;
}

/** What a statement reads when it runs once more; nothing stays of that. */
export async function readBy({ own }: WatchedPool, ran: Ran | undefined): Promise<PlanNode> {
  if (ran === undefined) throw new Error('no statement ran');
  const client = await own.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${ran.text}`, [
      ...ran.values,
    ]);
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** The pages that were read for it. */
export function pagesOf(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** The statements that were sent, without those that begin and end transactions. */
export const withoutFrame = (statements: readonly Ran[]): readonly Ran[] =>
  statements.filter(({ text }) => !/^\s*(BEGIN|COMMIT|ROLLBACK|LOCK)/.test(text));
