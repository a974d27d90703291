/** A node of a plan, as EXPLAIN tells it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** What EXPLAIN (FORMAT JSON) answers. */
export interface PlanRow {
  readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Tables that grow with what waits. */
const large = ['pending_deliveries', 'deliveries', 'events', 'delivery_attempts'];

/** How the large tables are read, such as `Index Scan pending_deliveries_published`, in the order of the plan. */
export function stepsOf(rows: readonly PlanRow[]): string[] {
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (plan === undefined) throw new Error('there is no plan');
  return nodesOf(plan).flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': relation, 'Index Name': index } = node;
    if (type === 'ModifyTable') return [];
    if (relation !== undefined && large.includes(relation)) return [`${type} ${index ?? relation}`];
    return type === 'Bitmap Index Scan' ? [`${type} ${index}`] : [];
  });
}

/** A claim walks along the indexes of what is ready, and looks everything else up by its key. */
const allowed = [
  'Index Scan pending_deliveries_published',
  'Index Only Scan pending_deliveries_published',
  'Index Scan pending_deliveries_ready',
  'Index Only Scan pending_deliveries_ready',
  'Tid Scan pending_deliveries',
  'Index Scan events_pkey',
  // Of the endpoints of a partner: a row each, however much waits.
  'Bitmap Index Scan endpoint_queues_by_turn',
];

/** What is wrong with the plan of a claim. */
export function claimFaults(steps: readonly string[]): string[] {
  const wrong = steps.filter((step) => !allowed.includes(step)).map((step) => `the plan has ${step}`);
  const walks = steps.some((step) => step.endsWith('pending_deliveries_published'));
  return walks ? wrong : [...wrong, 'the plan does not use pending_deliveries_published'];
}
