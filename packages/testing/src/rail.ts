import type {
  PaymentAdministration,
  PaymentRail,
  Settlement,
  TransferOrder,
  TransferResult,
} from '@ostiary/core';
import { formatAmount } from '@ostiary/core/seams';
import { type Limits, Plans } from './plans.ts';

/**
 * State of one transfer at the rail.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const moved = kit.rail.journal.filter(({ status }) => status === 'completed');
 * ```
 */
export interface RailEntry {
  readonly transferId: string;
  /** Slug of the partner that pays. */
  readonly partner: string;
  /** Decimal string, such as `"125.00"`. */
  readonly amount: string;
  readonly currency: string;
  readonly recipientKid: string;
  readonly reference: string | null;
  /** Money moved exactly when it is `completed`. `unknown`: the rail broke down and is asked again. */
  readonly status: 'completed' | 'failed' | 'pending' | 'unknown';
  /** Number of times the rail was called to execute it. */
  readonly asked: number;
}

/**
 * Reason for the failure of a transfer.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const failure: RailFailure = { code: 'account_closed' };
 * kit.rail.fail(failure);
 * ```
 */
export interface RailFailure {
  /** @defaultValue `"declined"` */
  readonly code?: string;
  /** @defaultValue `"The test rail declined."` */
  readonly message?: string;
}

/**
 * The payment rail of the kit, which moves money in its journal. Every live transfer completes unless a test wants
 * something else; those of test keys go to the sandbox, as everywhere.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * kit.rail.hold();
 * // … a payment is made …
 * await kit.settle();
 * for (const { transferId } of kit.rail.journal) await kit.rail.complete(transferId);
 * ```
 */
export interface TestRail {
  /** Live transfers that the rail was asked to execute, each once, in the order of the first time. */
  readonly journal: readonly RailEntry[];
  /**
   * Lets the next transfers fail.
   *
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * kit.rail.fail({ code: 'insufficient_funds', message: 'The account is empty.' });
   * ```
   */
  fail(failure?: RailFailure & Limits<TransferOrder>): void;
  /** Leaves the next transfers pending, until {@link TestRail.complete} or {@link TestRail.decline}. */
  hold(limits?: Limits<TransferOrder>): void;
  /**
   * Breaks down while it executes the next transfers. Their outcome is unknown, and they are retried after a
   * while.
   */
  breakDown(limits?: Limits<TransferOrder>): void;
  /** Completes a transfer that was held. */
  complete(transferId: string): Promise<void>;
  /** Lets a transfer that was held fail. */
  decline(transferId: string, failure?: RailFailure): Promise<void>;
}

type Effect = TransferResult | 'break down';

const failed = ({ code = 'declined', message = 'The test rail declined.' }: RailFailure) =>
  ({ status: 'failed', code, message }) as const;

/** The rail, and the port behind which the engine sees it. */
export function createTestRail(payments: () => Pick<PaymentAdministration, 'settle'>): {
  readonly rail: TestRail;
  readonly port: PaymentRail;
  readonly plans: Plans<TransferOrder, Effect>;
} {
  const entries = new Map<string, RailEntry>();
  const plans = new Plans<TransferOrder, Effect>();

  async function settle(transferId: string, settlement: Settlement): Promise<void> {
    const entry = entries.get(transferId);
    if (entry === undefined || entry.status !== 'pending') {
      throw new Error(`the rail does not hold ${transferId}; hold() it, and let the execution begin first`);
    }
    entries.set(transferId, { ...entry, status: settlement.status });
    await payments().settle(transferId, settlement);
  }

  return {
    rail: {
      get journal() {
        return [...entries.values()];
      },
      fail: (options = {}) => plans.add('rail.fail', failed(options), options),
      hold: (limits = {}) => plans.add('rail.hold', { status: 'pending' }, limits),
      breakDown: (limits = {}) => plans.add('rail.breakDown', 'break down', limits),
      complete: (transferId) => settle(transferId, { status: 'completed' }),
      decline: (transferId, failure = {}) => settle(transferId, failed(failure)),
    },
    port: {
      async execute(order) {
        const { id, partner, amount, currency, recipientKid, reference } = order;
        const known = entries.get(id);
        const effect: Effect = plans.take(order) ?? { status: 'completed' };
        entries.set(id, {
          transferId: id,
          partner,
          amount: formatAmount(amount),
          currency,
          recipientKid,
          reference,
          status: effect === 'break down' ? 'unknown' : effect.status,
          asked: (known?.asked ?? 0) + 1,
        });
        if (effect === 'break down') throw new Error('the test rail broke down');
        return effect;
      },
    },
    plans,
  };
}
