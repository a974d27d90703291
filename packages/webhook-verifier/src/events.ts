/** Members of every event: the signed body of a delivery. */
export interface EventOf<Type extends string, Data> {
  /** `evt_…`, the same at every attempt: the key to recognise duplicates by. */
  readonly id: string;
  readonly type: Type;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** `live` for real money and users, `test` for the sandbox. */
  readonly mode: 'live' | 'test';
  readonly data: Data;
}

/** Any event, for types that this version does not know. */
export type AnyEvent = EventOf<string, unknown>;

/** A transfer, as the partner API shows it. */
export interface Transfer {
  /** `tr_…` */
  readonly id: string;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly mode: 'live' | 'test';
  /** Decimal with two digits, such as `"150.00"`. */
  readonly amount: string;
  readonly currency: 'HTG' | 'USD';
  readonly recipient: { readonly kid: string };
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: { readonly [key: string]: unknown } | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  /** ISO 8601, UTC, like all times. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly completedAt: string | null;
}

/** A transfer that went through. */
export interface CompletedTransfer extends Transfer {
  readonly status: 'completed';
  readonly failure: null;
  readonly completedAt: string;
}

/** A transfer that failed, and why. */
export interface FailedTransfer extends Transfer {
  readonly status: 'failed';
  readonly failure: { readonly code: string; readonly message: string };
  readonly completedAt: null;
}

/** Result of a user's identity check. */
export interface KycState {
  readonly kycStatus: 'approved' | 'pending' | 'rejected';
  readonly kycTier: 0 | 1 | 2 | 3;
}

/** A user's KYC state changed. */
export interface KycChange extends KycState {
  /** The user's public id. */
  readonly kid: string;
  readonly previous: KycState;
  readonly changedAt: string;
}

/**
 * Events that Ostiary sends, a union by `type`. A newer Ostiary may send other types: ignore them in the
 * `default` branch.
 * @typeParam Own - the types that a host has registered besides, as `EventOf<'order.shipped', Order>`
 */
export type WebhookEvent<Own extends AnyEvent = never> =
  | EventOf<'payment.completed', CompletedTransfer>
  | EventOf<'payment.failed', FailedTransfer>
  | EventOf<'kyc.updated', KycChange>
  | EventOf<'webhook.test', { readonly message: string }>
  | Own;
