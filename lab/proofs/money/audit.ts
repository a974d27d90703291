import type { Connection } from '../../../examples/reference-server/src/database/sqlite.ts';
import type { ListedTransfer, Outcome } from './client.ts';
import { amountOf, decimal, expectedOf } from './model.ts';
import type { Schedule } from './schedule.ts';

/** Everything that is looked at when the last process is gone. */
export interface Evidence {
  readonly schedule: Schedule;
  readonly kids: readonly string[];
  readonly outcomes: readonly Outcome[];
  /** What the API listed in the end. */
  readonly listed: readonly ListedTransfer[];
  readonly database: Connection;
}

interface Movement {
  readonly id: string;
  readonly payer: string;
  readonly payee: string;
  readonly postings: bigint;
  readonly sum: bigint;
  readonly amount: bigint;
  readonly currency: string;
}

/** Names of the checks, each with what it found wrong. */
export type Findings = ReadonlyMap<string, readonly string[]>;

/** Notes what a check found wrong. */
type Check = (name: string, problems: readonly string[]) => void;
type Expected = readonly ReturnType<typeof expectedOf>[];

function auditAnswers(check: Check, { outcomes }: Evidence, expected: Expected): void {
  check(
    'every answer agrees with the model',
    outcomes.flatMap(({ answers }, index) =>
      answers
        .filter(({ status }) => status !== expected[index]?.status)
        .map(({ status, body }) => `payment ${index}: ${status} ${body}`),
    ),
  );
  check(
    'all answers to one key are equal',
    outcomes.flatMap(({ answers }, index) =>
      expected[index]?.status === 201 && new Set(answers.map(({ body }) => body)).size !== 1
        ? [`payment ${index}: ${answers.map(({ body }) => body).join(' | ')}`]
        : [],
    ),
  );
  check(
    'a key with another payload is refused',
    outcomes.flatMap(({ reused }, index) =>
      reused !== null && reused.status !== 409 ? [`payment ${index}: ${reused.status} ${reused.body}`] : [],
    ),
  );
}

function auditList(
  check: Check,
  { schedule, kids, outcomes, listed }: Evidence,
  { expected, byId }: { readonly expected: Expected; readonly byId: ReadonlyMap<string, ListedTransfer> },
): void {
  const wanted = new Map<string, { readonly index: number; readonly final: string }>();
  for (const [index, { answers }] of outcomes.entries()) {
    const [answer] = answers;
    const final = expected[index]?.final ?? null;
    if (answer?.status === 201 && final !== null) {
      wanted.set((JSON.parse(answer.body) as ListedTransfer).id, { index, final });
    }
  }
  const accepted = expected.filter(({ status }) => status === 201).length;
  check('no transfer is lost', [
    ...(wanted.size === accepted ? [] : [`${wanted.size} transfers were answered, not ${accepted}`]),
    ...[...wanted.keys()].filter((id) => !byId.has(id)),
  ]);
  check(
    'no transfer was made twice',
    listed
      .filter(({ id }, index) => !wanted.has(id) || listed.findIndex((other) => other.id === id) !== index)
      .map(({ id, description }) => `${id} (${description})`),
  );
  check(
    'every transfer is what was asked for, and ended as it had to',
    [...wanted].flatMap(([id, { index, final }]) => {
      const [transfer, payment] = [byId.get(id), schedule.payments[index]];
      if (transfer === undefined || payment === undefined) return [];
      const asExpected =
        transfer.status === final &&
        transfer.amount === amountOf(payment) &&
        transfer.currency === payment.currency &&
        transfer.recipient.kid === kids[payment.recipient] &&
        transfer.description === `Payment ${index}`;
      return asExpected ? [] : [JSON.stringify(transfer)];
    }),
  );
}

function auditLedger(
  check: Check,
  { schedule, kids, listed, database }: Evidence,
  byId: ReadonlyMap<string, ListedTransfer>,
): void {
  const rows = <Row>(sql: string): Row[] => database.prepare<[], Row>(sql).safeIntegers().all();
  const movements = rows<Movement>(`
    SELECT movements.id, payers.owner AS payer, app_users.kid AS payee, count(*) AS postings,
      sum(postings.amount) AS sum, max(postings.amount) AS amount, movements.currency
    FROM app_movements AS movements
    JOIN app_postings AS postings ON postings.movement_id = movements.id
    JOIN app_accounts AS accounts ON accounts.id = postings.account_id
    LEFT JOIN app_accounts AS payers ON payers.id = accounts.id AND payers.kind = 'partner'
    LEFT JOIN app_users ON app_users.sub = accounts.owner AND accounts.kind = 'user'
    WHERE movements.kind = 'transfer' GROUP BY movements.id
  `);
  const moved = new Map(movements.map((movement) => [movement.id, movement]));
  check('every completed transfer moved its amount once, and nothing else did', [
    ...movements
      .filter(({ id }) => byId.get(id)?.status !== 'completed')
      .map(({ id }) => `${id} moved money`),
    ...listed.flatMap(({ id, status, amount, currency }) => {
      const movement = moved.get(id);
      if (status !== 'completed') return [];
      const right =
        movement?.postings === 2n &&
        movement.sum === 0n &&
        movement.currency === currency &&
        decimal(movement.amount) === amount;
      return right ? [] : [`${id} of ${amount} ${currency} moved ${movement?.amount ?? 'nothing'}`];
    }),
  ]);
  const sums = rows<{ currency: string; sum: bigint }>(`
    SELECT currency, sum(amount) AS sum FROM app_postings
    JOIN app_accounts ON app_accounts.id = account_id GROUP BY currency
  `);
  check(
    'the ledger sums to zero',
    sums.filter(({ sum }) => sum !== 0n).map(({ currency, sum }) => `${currency}: ${sum}`),
  );
  check(
    'every balance is the sum of its postings',
    rows<{ kind: string; owner: string; currency: string }>(`
      SELECT kind, owner, currency FROM app_accounts
      WHERE balance <> (SELECT coalesce(sum(amount), 0) FROM app_postings WHERE account_id = app_accounts.id)
    `).map(({ kind, owner, currency }) => `${kind} ${owner} ${currency}`),
  );
  check('the funds are spent to the last cent, and the users have them', [
    ...rows<{ currency: string; balance: bigint }>(
      "SELECT currency, balance FROM app_accounts WHERE kind = 'partner' AND balance <> 0",
    ).map(({ currency, balance }) => `${balance} ${currency} are left`),
    ...balanceProblems(schedule, kids, rows),
  ]);
  check(
    'no work is left over',
    rows<{ id: string }>("SELECT id FROM jobs WHERE kind = 'transfer'").map(({ id }) => id),
  );
}

/** Compares what clients saw, what the API lists, and what is in the tables with the model. */
export function audit(evidence: Evidence): Findings {
  const findings = new Map<string, readonly string[]>();
  const check: Check = (name, problems) => void findings.set(name, problems);
  const expected = evidence.schedule.payments.map(expectedOf);
  const byId = new Map(evidence.listed.map((transfer) => [transfer.id, transfer]));
  auditAnswers(check, evidence, expected);
  auditList(check, evidence, { expected, byId });
  auditLedger(check, evidence, byId);
  return findings;
}

/** Users whose balance is not what the model says they were paid. */
function balanceProblems(
  { payments }: Schedule,
  kids: readonly string[],
  rows: <Row>(sql: string) => Row[],
): string[] {
  const due = new Map<string, bigint>();
  for (const { kind, recipient, currency, amount } of payments) {
    if (kind !== 'covered') continue;
    const account = `${kids[recipient]} ${currency}`;
    due.set(account, (due.get(account) ?? 0n) + BigInt(amount));
  }
  const balances = rows<{ kid: string; currency: string; balance: bigint }>(`
    SELECT kid, currency, balance FROM app_accounts JOIN app_users ON sub = owner WHERE kind = 'user'
  `);
  const held = new Map(balances.map(({ kid, currency, balance }) => [`${kid} ${currency}`, balance]));
  return [...new Set([...due.keys(), ...held.keys()])]
    .filter((account) => (due.get(account) ?? 0n) !== (held.get(account) ?? 0n))
    .map((account) => `${account}: ${held.get(account) ?? 0n}, not ${due.get(account) ?? 0n}`);
}
