import { randomBytes } from 'node:crypto';
import type { PaymentRail, TransferOrder, TransferResult } from '@ostiary/core';
import type { Database } from '../database/database.ts';
import { amountSchema } from './money.ts';
import { createPostings, type LedgerCurrency, ledgerCurrencies, type Posting } from './postings.ts';

/** What a partner has to pay with, in minor units. */
export type Funds = Readonly<Record<LedgerCurrency, bigint>>;

/** The amount cannot be posted; the message is for whoever gave it. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

/** Wallets of users and funding accounts of partners, in double entry. */
export interface Ledger {
  /** The rail that Ostiary's worker calls. A transfer that it was asked for before gets the answer of then, and moves nothing. */
  readonly rail: PaymentRail;
  /**
   * Puts money into a partner's funding account. Whoever calls it has seen that the partner exists.
   *
   * @throws {@link LedgerError}
   */
  fund(partner: string, amount: string, currency: LedgerCurrency): Promise<Funds>;
  funds(partner: string): Funds;
}

const failures = {
  unknown_recipient: 'The recipient cannot be paid.',
  insufficient_funds: 'The funding account of the partner does not cover the amount.',
  balance_limit: 'The wallet of the recipient cannot hold the amount.',
} as const;

type FailureCode = keyof typeof failures;

function resultOf(failure: FailureCode | null): TransferResult {
  return failure === null
    ? { status: 'completed' }
    : { status: 'failed', code: failure, message: failures[failure] };
}

function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(failures, code);
}

/** See {@link Ledger}. Every movement is one transaction of `synchronous=FULL`. */
export function createLedger(database: Database, now: () => number): Ledger {
  const { connection } = database;
  const postings = createPostings(connection);
  const recipient = connection.prepare<[string], { sub: string }>(
    'SELECT sub FROM app_users WHERE kid = ? AND blocked_at IS NULL',
  );
  const decided = connection.prepare<[string], { failure: string | null }>(
    'SELECT failure FROM app_executions WHERE transfer_id = ?',
  );
  const decide = connection.prepare<[string, string | null, number]>(
    'INSERT INTO app_executions VALUES (?, ?, ?)',
  );

  const refusal = (posting: Posting): FailureCode | null =>
    posting === 'insufficient_funds' || posting === 'balance_limit' ? posting : null;

  function failureOf({ id, partner, recipientKid, amount, currency }: TransferOrder): FailureCode | null {
    const user = recipient.get(recipientKid);
    if (user === undefined) return 'unknown_recipient';
    return refusal(
      postings.post({
        id,
        kind: 'transfer',
        from: { kind: 'partner', slug: partner },
        to: { kind: 'user', sub: user.sub },
        amount,
        currency,
        at: now(),
      }),
    );
  }

  const funds = (partner: string): Funds => {
    const of = (currency: LedgerCurrency): bigint =>
      postings.balance({ kind: 'partner', slug: partner }, currency);
    return { HTG: of('HTG'), USD: of('USD') };
  };

  return {
    rail: {
      execute: (order) =>
        database.write(() => {
          const before = decided.get(order.id);
          if (before !== undefined) {
            if (before.failure !== null && !isFailureCode(before.failure))
              throw new Error('a stored failure is unknown');
            return resultOf(before.failure);
          }
          // A failure is kept as well: asked again when there are funds, a transfer that was called failed must not be paid.
          const failure = failureOf(order);
          decide.run(order.id, failure, now());
          return resultOf(failure);
        }),
    },

    async fund(partner, amount, currency) {
      const parsed = amountSchema.safeParse(amount);
      if (!parsed.success || parsed.data === 0n) {
        throw new LedgerError('the amount must be a decimal above zero with two digits, such as 1250.00');
      }
      if (!ledgerCurrencies.includes(currency))
        throw new LedgerError(`the currency must be ${ledgerCurrencies.join(' or ')}`);
      return database.write(() => {
        const posting = postings.post({
          id: `fund_${randomBytes(16).toString('hex')}`,
          kind: 'funding',
          from: { kind: 'external' },
          to: { kind: 'partner', slug: partner },
          amount: parsed.data,
          currency,
          at: now(),
        });
        if (posting !== 'posted') throw new LedgerError('the account cannot hold that much');
        return funds(partner);
      });
    },

    funds: (partner) => database.read(() => funds(partner)),
  };
}
