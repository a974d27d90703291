import type {
  PaymentAdministration,
  PaymentRail,
  Settlement,
  TransferOrder,
  TransferResult,
} from '@ostiary/core';
import { formatAmount } from '@ostiary/core/internal';
import { type Limits, Plans } from './plans.ts';

/**
 * State of one transfer at the payment rail.
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
  /** Amount as a decimal string, such as `"125.00"`. */
  readonly amount: string;
  readonly currency: string;
  readonly recipientKid: string;
  readonly reference: string | null;
  /**
   * Status of the transfer at the rail. Money has moved if and only if it is `completed`. `unknown` means
   * that the rail broke down and will be called again.
   */
  readonly status: 'completed' | 'failed' | 'pending' | 'unknown';
  /** Number of times that the service called the rail to execute the transfer. */
  readonly asked: number;
}

/**
 * Reason with which a test lets a transfer fail.
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
 * Payment rail of the kit, which moves money in its journal only. Every live transfer completes unless a test
 * plans otherwise. Transfers of test keys use the sandbox, as in production.
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
  /** Live transfers that the rail was called to execute, each once, in the order of the first call. */
  readonly journal: readonly RailEntry[];
  /**
   * Makes the next transfers fail, as planned by a test.
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
   * Breaks down during the execution of the next transfers. Their outcome is unknown, and the service tries
   * them again later.
   */
  breakDown(limits?: Limits<TransferOrder>): void;
  /** Completes a transfer that `hold` has left pending. */
  complete(transferId: string): Promise<void>;
  /** Makes a transfer fail that `hold` has left pending. */
  decline(transferId: string, failure?: RailFailure): Promise<void>;
}

type Effect = TransferResult | 'break down';

const failed = ({ code = 'declined', message = 'The test rail declined.' }: RailFailure) =>
  ({ status: 'failed', code, message }) as const;

/** Creates the payment rail, with the interface for tests and the port for the service. */
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
