import type { Pool } from 'pg';
import type { Ran } from './watched-pool.ts';

/** A node of a query plan, as EXPLAIN returns it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** Join condition of a query plan that is checked for every pair of rows. */
  readonly 'Join Filter'?: string;
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

/** A database server, with connections as its superuser. */
interface Server {
  readonly own: Pool;
}

/**
 * Returns the query plan of a statement for its values. PostgreSQL shows the plans of statements inside a
 * function only when the function runs, so a call of a function is run and rolled back.
 */
export async function planOf(server: Server, ran: Ran): Promise<PlanNode> {
  if (/"\.[a-z]+(?:_[a-z]+)+\(/.test(ran.text)) {
    // Change the ids of the call's statement, so that it can store rows again.
    const values = ran.values.map((value) =>
      typeof value === 'string' ? value.replaceAll(/"(id|deliveryId)":"/g, '"$1":"again ') : value,
    );
    return readBy(server, { ...ran, values });
  }
  const { rows } = await server.own.query(`EXPLAIN (FORMAT JSON) ${ran.text}`, [...ran.values]);
  return rows[0]['QUERY PLAN'][0].Plan;
}

/**
 * Runs a statement once more, including its functions, and rolls it back. Returns the query plans with the
 * numbers of read pages and rows.
 */
export async function readBy({ own }: Server, ran: Ran | undefined): Promise<PlanNode> {
  if (ran === undefined) throw new Error('no statement ran');
  const client = await own.connect();
  const plans: PlanNode[] = [];
  const keep = ({ message = '' }: { readonly message?: string | undefined }) => {
    const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(message.indexOf('{')));
    // Without the statements with which the server checks foreign keys.
    if (!text.includes('OPERATOR(pg_catalog.')) plans.push(plan);
  };
  try {
    await client.query(`
      LOAD 'auto_explain';
      BEGIN;
      SET LOCAL auto_explain.log_level = 'notice';
      SET LOCAL auto_explain.log_format = 'json';
      SET LOCAL auto_explain.log_nested_statements = on;
      SET LOCAL auto_explain.log_analyze = on;
      SET LOCAL auto_explain.log_buffers = on;
      SET LOCAL auto_explain.log_min_duration = 0
    `);
    // Run the statement before, because functions keep the plans of their first call, and reading for
    // planning must not count.
    await client.query('SAVEPOINT planned');
    await client.query(ran.text, [...ran.values]);
    await client.query('ROLLBACK TO SAVEPOINT planned');
    client.on('notice', keep);
    await client.query(ran.text, [...ran.values]);
  } finally {
    // The statement also ends here, and reports its own plan.
    await client.query('ROLLBACK');
    client.removeListener('notice', keep);
    client.release();
  }
  // The statement itself ends last, and its counts include those of its functions.
  const whole = plans.pop();
  if (whole === undefined) throw new Error('the server told no plan');
  return { ...whole, Plans: [...(whole.Plans ?? []), ...plans] };
}

/** Returns the number of pages that a query plan has read. */
export function pagesOf(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** Returns the statements except those that start and end transactions. */
export const withoutFrame = (statements: readonly Ran[]): readonly Ran[] =>
  statements.filter(({ text }) => !/^\s*(BEGIN|COMMIT|ROLLBACK|LOCK)/.test(text));
