import { createHash, randomBytes } from 'node:crypto';
import type { PaymentRail, TransferOrder, TransferResult } from '@ostiary/core';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { amountSchema } from './money.ts';
import {
  balancesOf,
  type Funds,
  type LedgerCurrency,
  type Movement,
  MovementRefused,
  post,
} from './postings.ts';

/** Error for an amount that cannot be booked. The message is for the caller. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
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

/** Returns the decision about a transfer, which may have been made earlier or by another process. */
async function decisionOn(queries: Queries, transferId: string): Promise<TransferResult> {
  const decision = await queries.get<{ failure: string | null }>(
    'SELECT failure FROM app_executions WHERE transfer_id = :transferId',
    { transferId },
  );
  if (decision === undefined) throw new Error('a decision that was taken is not there');
  const { failure } = decision;
  if (failure !== null && !isFailureCode(failure)) throw new Error('a stored failure is unknown');
  return resultOf(failure);
}

/** Makes the payment rail, which pays each transfer once. */
function railOn(database: Database, now: () => number): PaymentRail {
  /**
   * Records the decision about a transfer, unless it was decided before. A concurrent caller waits until this
   * transaction is committed.
   */
  async function decide(
    transaction: Transaction,
    transferId: string,
    failure: FailureCode | null,
  ): Promise<boolean> {
    const taken = await transaction.run(
      `INSERT INTO app_executions (transfer_id, failure, decided_at) VALUES (:transferId, :failure, :at)
       ON CONFLICT DO NOTHING`,
      { transferId, failure, at: now() },
    );
    return taken === 1;
  }

  async function pay(transaction: Transaction, order: TransferOrder): Promise<void> {
    const { id, partner, recipientKid, amount, currency } = order;
    const user = await transaction.get<{ sub: string }>(
      'SELECT sub FROM app_users WHERE kid = :recipientKid AND blocked_at IS NULL',
      { recipientKid },
    );
    if (user === undefined) throw new MovementRefused('unknown_recipient');
    const holders = {
      from: { kind: 'partner', slug: partner },
      to: { kind: 'user', sub: user.sub },
    } as const;
    await post(transaction, { id, kind: 'transfer', ...holders, amount, currency, at: now() });
  }

  /**
   * Stores that a transfer is refused. The refusal is final: a transfer that was reported as failed must not
   * be paid later, even if there are funds by then.
   */
  function refuse(order: TransferOrder, failure: FailureCode): Promise<TransferResult> {
    return database.write(async (transaction) => {
      await decide(transaction, order.id, failure);
      return decisionOn(transaction, order.id);
    });
  }

  return {
    async execute(order) {
      try {
        return await database.write(async (transaction) => {
          if (!(await decide(transaction, order.id, null))) return decisionOn(transaction, order.id);
          await pay(transaction, order);
          return resultOf(null);
        });
      } catch (error) {
        if (error instanceof MovementRefused) return refuse(order, error.reason);
        throw error;
      }
    },
  };
}

/** Returns the id of the movement that funds a partner. The same reference of a partner has the same id. */
function fundingId(partner: string, reference: string | null): string {
  const unique =
    reference === null
      ? randomBytes(16)
      : createHash('sha256')
          .update(JSON.stringify([partner, reference]))
          .digest()
          .subarray(0, 16);
  return `fund_${unique.toString('hex')}`;
}

/** Checks that a movement that was made before moved the same money. @throws {@link LedgerError} */
async function requireSame(
  queries: Queries,
  { id, amount, currency }: Pick<Movement, 'id' | 'amount' | 'currency'>,
): Promise<void> {
  const made = await queries.get<{ currency: string; amount: string }>(
    `SELECT currency, CAST(amount AS TEXT) AS amount FROM app_movements
     JOIN app_postings ON movement_id = app_movements.id WHERE app_movements.id = :id AND amount > 0`,
    { id },
  );
  if (made?.currency !== currency || made.amount !== String(amount))
    throw new LedgerError('the reference belongs to another amount, which was recorded before');
}

/** Makes the ledger. Every movement of money is one transaction. */
export function createLedger(database: Database, now: () => number) {
  const funds = (queries: Queries, partner: string): Promise<Funds> =>
    balancesOf(queries, { kind: 'partner', slug: partner });

  return {
    /**
     * Payment rail that Ostiary's worker calls. Calling it again with the same transfer returns the first
     * decision and moves no money.
     */
    rail: railOn(database, now),

    /**
     * Puts money into a partner's funding account. The caller has checked that the partner exists.
     *
     * @param reference - id of the money at the bank: a second call with the same id moves nothing; `null` for none
     * @returns the funds, and whether an earlier call has recorded this reference
     * @throws {@link LedgerError}
     */
    async fund(
      partner: string,
      amount: string,
      currency: LedgerCurrency,
      reference: string | null = null,
    ): Promise<{ readonly funds: Funds; readonly isRepeated: boolean }> {
      const parsed = amountSchema.safeParse(amount);
      if (!parsed.success || parsed.data === 0n) {
        throw new LedgerError('the amount must be a decimal above zero with two digits, such as 1250.00');
      }
      const id = fundingId(partner, reference);
      const holders = { from: { kind: 'external' }, to: { kind: 'partner', slug: partner } } as const;
      const funding = { id, kind: 'funding', ...holders, amount: parsed.data, currency } as const;
      try {
        return await database.write(async (transaction) => {
          const isRepeated = !(await post(transaction, { ...funding, at: now() }));
          if (isRepeated) await requireSame(transaction, funding);
          return { funds: await funds(transaction, partner), isRepeated };
        });
      } catch (error) {
        if (error instanceof MovementRefused) throw new LedgerError('the account cannot hold that much');
        throw error;
      }
    },

    /** Returns the balances from which a partner can pay, by currency. */
    funds: (partner: string) => funds(database, partner),
  };
}
