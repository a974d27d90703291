import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import { type CursorPage, cursorList, type List } from '../http/list.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { Mode, Open } from './open.ts';

/** Payment that your program makes with `payments.create`. The service responds with the transfer. */
export interface PaymentRequest {
  /** Amount of the payment, a decimal with two digits, such as `"125.00"`. */
  readonly amount: string;
  readonly currency: 'HTG' | 'USD';
  /** Recipient of the payment, by public id or by phone number in E.164. */
  readonly recipient: { readonly kid: string } | { readonly phone: string };
  /** Description of up to 140 characters. */
  readonly description?: string | undefined;
  /**
   * Your own reference of the payment, up to 100 characters. It belongs to one transfer for ever, so a
   * payment with the same reference is never made twice. Only in test mode, the service removes payments, after
   * 7 days at the latest, and the reference of a removed payment can be used again.
   */
  readonly reference?: string | undefined;
  /** Up to 20 texts of your own, by name, which are stored with the payment. */
  readonly metadata?: { readonly [name: string]: string } | undefined;
}

/** A transfer. Its status `pending` may change to `completed` or `failed`, which are final. */
export interface Transfer {
  /** Id of the transfer, such as `tr_…`. */
  readonly id: string;
  readonly status: Open<'pending' | 'completed' | 'failed'>;
  readonly mode: Mode;
  readonly amount: string;
  readonly currency: Open<'HTG' | 'USD'>;
  readonly recipient: { readonly kid: string };
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: { readonly [name: string]: string } | null;
  /** Reason of the failure; `null` if the transfer has not failed. */
  readonly failure: { readonly code: string; readonly message: string } | null;
  /** Time of the transfer's creation, ISO 8601 in UTC, like all times of the transfer. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly completedAt: string | null;
}

/** Filter of a list of transfers. */
export interface PaymentQuery {
  readonly status?: 'pending' | 'completed' | 'failed' | undefined;
  readonly reference?: string | undefined;
  /** Earliest time of creation of the listed transfers, inclusive. */
  readonly createdFrom?: string | Date | undefined;
  /** Latest time of creation of the listed transfers, exclusive. */
  readonly createdTo?: string | Date | undefined;
  /** Maximum number of transfers per page, 1 to 100; 25 by default. */
  readonly limit?: number | undefined;
  /** Position at which the list continues: `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined;
}

/**
 * Operations on payments.
 *
 * @example
 * ```ts
 * const transfer = await ostiary.payments.create(
 *   { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-ANA' }, reference: 'order-1017' },
 *   { idempotencyKey: 'order-1017' },
 * );
 * const { status, failure } = await ostiary.payments.retrieve(transfer.id);
 * console.log(status, failure?.message);
 * ```
 */
export interface Payments {
  /**
   * Makes a payment. It is safe to repeat: every attempt carries the same `Idempotency-Key`.
   *
   * @throws OstiaryError with `outcome`; `idempotency_conflict` if the reference belongs to another transfer
   * or the key was used with another payload, `not_found` if the recipient does not exist
   */
  create(request: PaymentRequest, options?: IdempotentOptions): ApiPromise<Transfer>;
  /**
   * Returns the current state of a transfer.
   *
   * @throws OstiaryError `not_found`
   */
  retrieve(id: string, options?: RequestOptions): ApiPromise<Transfer>;
  /**
   * Lists transfers, newest first.
   *
   * @throws OstiaryError when the list is read
   */
  list(query?: PaymentQuery, options?: RequestOptions): List<Transfer, CursorPage<Transfer>>;
}

export function payments(connection: Connection): Payments {
  const path = '/v1/partner/payments';
  const one = `${path}/{id}`;
  return {
    create: (body, options) => call(connection, { method: 'POST', path, body, repeat: 'key' }, options),
    retrieve: (id, options) => call(connection, { path: one, values: { id } }, options),
    list: (query, options) => cursorList(connection, { path }, query, options),
  };
}
