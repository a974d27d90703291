import type { Connection } from '../../../examples/reference-server/src/database/sqlite.ts';
import type { Answer } from '../../support/clients/client.ts';
import { sqliteDisorders } from '../../support/deployment/books.ts';
import type { Claim } from '../../support/proof.ts';
import { amountOf, decimal, expectedOf, paid, type Schedule } from './schedule.ts';

/** All responses that a client got for one payment. */
export interface Outcome {
  /** Responses to a payment's requests, one for each request. Requests without a response were repeated. */
  readonly answers: readonly Answer[];
  /**
   * Response to a request with the same idempotency key and another payload; `null` if no such request was
   * made.
   */
  readonly reused: Answer | null;
}

/** A transfer in the form in which the API lists it. */
export interface ListedTransfer {
  readonly id: string;
  readonly status: string;
  readonly amount: string;
  readonly currency: string;
  readonly recipient: { readonly kid: string };
  readonly description: string;
}

/** Responses, transfers and books that are audited after the last process has ended. */
interface Evidence {
  readonly schedule: Schedule;
  readonly kids: readonly string[];
  readonly outcomes: readonly Outcome[];
  /** Transfers that the API listed at the end of the proof. */
  readonly listed: readonly ListedTransfer[];
  readonly database: Connection;
}

/** Problems found by the audit, by guarantee. */
type Problems = Readonly<Record<string, readonly string[]>>;

function auditAnswers({ schedule, outcomes }: Evidence): Problems {
  const seen = schedule.payments.map((payment, index) => {
    const { answers = [], reused = null } = outcomes[index] ?? {};
    return { name: `payment ${index}`, status: expectedOf(payment).status, answers, reused };
  });
  return {
    'every answer agrees with the model': seen.flatMap(({ name, status, answers }) =>
      answers.filter((answer) => answer.status !== status).map((one) => `${name}: ${one.status} ${one.text}`),
    ),
    'all answers to one key are equal': seen
      .map(({ name, status, answers }) => ({ name, status, texts: new Set(answers.map(({ text }) => text)) }))
      .filter(({ status, texts }) => status === 201 && texts.size !== 1)
      .map(({ name, texts }) => `${name}: ${[...texts].join(' | ')}`),
    'a key with another payload is refused': seen
      .filter(({ reused }) => reused !== null && reused.status !== 409)
      .map(({ name, reused }) => `${name}: ${reused?.status} ${reused?.text}`),
  };
}

function auditList({ schedule, kids, outcomes, listed }: Evidence): Problems {
  /** Expected state of every transfer, by the transfer's id. */
  const wanted = new Map<string, string>();
  for (const [index, payment] of schedule.payments.entries()) {
    const { status, final } = expectedOf(payment);
    if (status !== 201) continue;
    const [answer] = outcomes[index]?.answers ?? [];
    const id = answer?.status === 201 ? JSON.parse(answer.text).id : `of payment ${index}`;
    const { recipient, currency } = payment;
    const fields = [final, amountOf(payment), currency, kids[recipient], `Payment ${index}`];
    wanted.set(id, fields.join(' '));
  }
  const byId = Map.groupBy(listed, ({ id }) => id);
  return {
    'no transfer is lost': [...wanted.keys()].filter((id) => !byId.has(id)),
    'no transfer was made twice': [...byId]
      .filter(([id, same]) => !wanted.has(id) || same.length > 1)
      .map(([id, [transfer]]) => `${id} (${transfer?.description})`),
    'every transfer is what was asked for, and ended as it had to': listed.flatMap(
      ({ id, status, amount, currency, recipient, description }) => {
        const is = [status, amount, currency, recipient.kid, description].join(' ');
        return is === (wanted.get(id) ?? is) ? [] : [`${id} is ${is}, not ${wanted.get(id)}`];
      },
    ),
  };
}

const movements = `
  SELECT movements.id, count(*) || ' ' || sum(postings.amount) || ' ' || max(postings.amount) || ' ' || currency AS moved
  FROM app_movements AS movements JOIN app_postings AS postings ON postings.movement_id = movements.id
  WHERE movements.kind = 'transfer' GROUP BY movements.id
`;

const balances = `
  SELECT kid || ' ' || currency AS account, balance FROM app_accounts JOIN app_users ON sub = owner WHERE kind = 'user'
`;

function auditLedger({ schedule, kids, listed, database }: Evidence): Problems {
  const rows = <Row>(sql: string): Row[] => database.prepare<[], Row>(sql).safeIntegers().all();
  const moved = new Map(rows<{ id: string; moved: string }>(movements).map((row) => [row.id, row.moved]));
  const completed = listed.filter(({ status }) => status === 'completed');
  const known = new Set(completed.map(({ id }) => id));
  const due = paid(schedule, ({ recipient, currency }) => `${kids[recipient]} ${currency}`);
  const held = new Map(
    rows<{ account: string; balance: bigint }>(balances).map((row) => [row.account, row.balance]),
  );
  return {
    'every completed transfer moved its amount once, and nothing else did': [
      ...[...moved.keys()].filter((id) => !known.has(id)).map((id) => `${id} moved money`),
      ...completed.flatMap(({ id, amount, currency }) => {
        // Two postings that sum to zero, and the amount in minor units.
        const wanted = `2 0 ${amount.replace('.', '').replace(/^0+/, '')} ${currency}`;
        return moved.get(id) === wanted ? [] : [`${id}: ${moved.get(id) ?? 'nothing'}, not ${wanted}`];
      }),
    ],
    'every balance is the sum of its postings, and the ledger sums to zero': rows<{ what: string }>(
      sqliteDisorders,
    ).map(({ what }) => what),
    'the funds are spent to the last cent, and the users have them': [
      ...rows<{ currency: string; balance: bigint }>(
        "SELECT currency, balance FROM app_accounts WHERE kind = 'partner' AND balance <> 0",
      ).map(({ currency, balance }) => `${decimal(balance)} ${currency} are left`),
      ...[...new Set([...due.keys(), ...held.keys()])]
        .filter((account) => (due.get(account) ?? 0n) !== (held.get(account) ?? 0n))
        .map((account) => `${account}: ${held.get(account) ?? 0n}, not ${due.get(account) ?? 0n}`),
    ],
    'no work is left over': rows<{ id: string }>("SELECT id FROM jobs WHERE kind = 'transfer'").map(
      ({ id }) => id,
    ),
  };
}

/** Compares the responses that clients got, the API's list, and the tables with the expected results. */
export function audit(evidence: Evidence): Claim[] {
  const problems = { ...auditAnswers(evidence), ...auditList(evidence), ...auditLedger(evidence) };
  return Object.entries(problems).map(([name, found]) => ({ name, problems: found }));
}
