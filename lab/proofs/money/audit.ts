import type { Connection } from '../../../examples/reference-server/src/database/sqlite.ts';
import type { Claim } from '../../support/proof.ts';
import type { Answer } from '../client.ts';
import { disorders } from '../sqlite-ledger.ts';
import { amountOf, decimal, expectedOf, paid, type Schedule } from './schedule.ts';

/** What a client saw of one payment. */
export interface Outcome {
  /** One for each request; requests that ended without an answer were sent again. */
  readonly answers: readonly Answer[];
  /** The answer to the key with another payload, if that was tried. */
  readonly reused: Answer | null;
}

/** A transfer as the API lists it. */
export interface ListedTransfer {
  readonly id: string;
  readonly status: string;
  readonly amount: string;
  readonly currency: string;
  readonly recipient: { readonly kid: string };
  readonly description: string;
}

/** Everything that is looked at when the last process is gone. */
export interface Evidence {
  readonly schedule: Schedule;
  readonly kids: readonly string[];
  readonly outcomes: readonly Outcome[];
  /** What the API listed in the end. */
  readonly listed: readonly ListedTransfer[];
  readonly database: Connection;
}

function auditAnswers({ schedule, outcomes }: Evidence): Claim[] {
  const seen = schedule.payments.map((payment, index) => {
    const { answers = [], reused = null } = outcomes[index] ?? {};
    const { status } = expectedOf(payment);
    return { name: `payment ${index}`, status, answers, reused };
  });
  return [
    {
      name: 'every answer agrees with the model',
      problems: seen.flatMap(({ name, status, answers }) =>
        answers
          .filter((answer) => answer.status !== status)
          .map((one) => `${name}: ${one.status} ${one.text}`),
      ),
    },
    {
      name: 'all answers to one key are equal',
      problems: seen
        .filter(
          ({ status, answers }) => status === 201 && new Set(answers.map(({ text }) => text)).size !== 1,
        )
        .map(({ name, answers }) => `${name}: ${answers.map(({ text }) => text).join(' | ')}`),
    },
    {
      name: 'a key with another payload is refused',
      problems: seen
        .filter(({ reused }) => reused !== null && reused.status !== 409)
        .map(({ name, reused }) => `${name}: ${reused?.status} ${reused?.text}`),
    },
  ];
}

function auditList({ schedule, kids, outcomes, listed }: Evidence): Claim[] {
  const wanted = new Map<string, string>();
  for (const [index, payment] of schedule.payments.entries()) {
    const { status, final } = expectedOf(payment);
    const [answer] = outcomes[index]?.answers ?? [];
    if (status !== 201 || answer?.status !== 201) continue;
    const { recipient, currency } = payment;
    const fields = [final, amountOf(payment), currency, kids[recipient], `Payment ${index}`];
    wanted.set((JSON.parse(answer.text) as ListedTransfer).id, fields.join(' '));
  }
  const byId = Map.groupBy(listed, ({ id }) => id);
  const accepted = schedule.payments.filter((payment) => expectedOf(payment).status === 201).length;
  return [
    {
      name: 'no transfer is lost',
      problems: [
        ...(wanted.size === accepted ? [] : [`${wanted.size} transfers were answered, not ${accepted}`]),
        ...[...wanted.keys()].filter((id) => !byId.has(id)),
      ],
      found: `${listed.length} transfers`,
    },
    {
      name: 'no transfer was made twice',
      problems: [...byId]
        .filter(([id, same]) => !wanted.has(id) || same.length > 1)
        .map(([id, [transfer]]) => `${id} (${transfer?.description})`),
    },
    {
      name: 'every transfer is what was asked for, and ended as it had to',
      problems: listed.flatMap(({ id, status, amount, currency, recipient, description }) => {
        const is = [status, amount, currency, recipient.kid, description].join(' ');
        return is === (wanted.get(id) ?? is) ? [] : [`${id} is ${is}, not ${wanted.get(id)}`];
      }),
    },
  ];
}

const movements = `
  SELECT movements.id, count(*) || ' ' || sum(postings.amount) || ' ' || max(postings.amount) || ' ' || currency AS moved
  FROM app_movements AS movements JOIN app_postings AS postings ON postings.movement_id = movements.id
  WHERE movements.kind = 'transfer' GROUP BY movements.id
`;

function auditLedger({ schedule, kids, listed, database }: Evidence): Claim[] {
  const rows = <Row>(sql: string): Row[] => database.prepare<[], Row>(sql).safeIntegers().all();
  const moved = new Map(rows<{ id: string; moved: string }>(movements).map((row) => [row.id, row.moved]));
  const completed = listed.filter(({ status }) => status === 'completed');
  const known = new Set(completed.map(({ id }) => id));
  const due = paid(schedule, ({ recipient, currency }) => `${kids[recipient]} ${currency}`);
  const held = new Map(
    rows<{ account: string; balance: bigint }>(
      `SELECT kid || ' ' || currency AS account, balance FROM app_accounts JOIN app_users ON sub = owner WHERE kind = 'user'`,
    ).map(({ account, balance }) => [account, balance]),
  );
  return [
    {
      name: 'every completed transfer moved its amount once, and nothing else did',
      problems: [
        ...[...moved.keys()].filter((id) => !known.has(id)).map((id) => `${id} moved money`),
        // From one account to another.
        ...completed
          .filter(
            ({ id, amount, currency }) =>
              moved.get(id) !== `2 0 ${amount.replace('.', '').replace(/^0+/, '')} ${currency}`,
          )
          .map(
            ({ id, amount, currency }) =>
              `${id} of ${amount} ${currency} moved ${moved.get(id) ?? 'nothing'}`,
          ),
      ],
    },
    {
      name: 'every balance is the sum of its postings, and the ledger sums to zero',
      problems: rows<{ what: string }>(disorders).map(({ what }) => what),
    },
    {
      name: 'the funds are spent to the last cent, and the users have them',
      problems: [
        ...rows<{ currency: string; balance: bigint }>(
          "SELECT currency, balance FROM app_accounts WHERE kind = 'partner' AND balance <> 0",
        ).map(({ currency, balance }) => `${decimal(balance)} ${currency} are left`),
        ...[...new Set([...due.keys(), ...held.keys()])]
          .filter((account) => (due.get(account) ?? 0n) !== (held.get(account) ?? 0n))
          .map((account) => `${account}: ${held.get(account) ?? 0n}, not ${due.get(account) ?? 0n}`),
      ],
    },
    {
      name: 'no work is left over',
      problems: rows<{ id: string }>("SELECT id FROM jobs WHERE kind = 'transfer'").map(({ id }) => id),
    },
  ];
}

/** Compares what clients saw, what the API lists, and what is in the tables with the model. */
export function audit(evidence: Evidence): Claim[] {
  return [...auditAnswers(evidence), ...auditList(evidence), ...auditLedger(evidence)];
}
