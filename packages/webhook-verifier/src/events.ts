/** Members of every event: the signed body of a webhook. */
export interface EventOf<Type extends string, Data> {
  /** Event id, such as `evt_…`. It is the same at every attempt, so use it to recognise duplicates. */
  readonly id: string;
  readonly type: Type;
  /** Time at which the event was created, ISO 8601 in UTC. */
  readonly createdAt: string;
  /** Mode of the event. `live`: real money and users. `test`: the sandbox. */
  readonly mode: 'live' | 'test';
  readonly data: Data;
}

/** Any event, including types that this version does not know. */
export type AnyEvent = EventOf<string, unknown>;

/** A transfer, as the partner API shows it. */
export interface Transfer {
  /** Id of the transfer, such as `tr_…`. */
  readonly id: string;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly mode: 'live' | 'test';
  /** Amount of the transfer, a decimal with two digits, such as `"150.00"`. */
  readonly amount: string;
  readonly currency: 'HTG' | 'USD';
  readonly recipient: { readonly kid: string };
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: { readonly [key: string]: unknown } | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  /** Time of the transfer's creation, ISO 8601 in UTC, like all times of the event. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly completedAt: string | null;
}

/** A transfer that was completed. */
export interface CompletedTransfer extends Transfer {
  readonly status: 'completed';
  readonly failure: null;
  readonly completedAt: string;
}

/** A transfer that failed, with the reason. */
export interface FailedTransfer extends Transfer {
  readonly status: 'failed';
  readonly failure: { readonly code: string; readonly message: string };
  readonly completedAt: null;
}

/** State of a user's identity check. */
export interface KycState {
  readonly kycStatus: 'approved' | 'pending' | 'rejected';
  readonly kycTier: 0 | 1 | 2 | 3;
}

/** Data of the event that a user's identity check has changed. */
export interface KycChange extends KycState {
  /** Public id of the user. */
  readonly kid: string;
  readonly previous: KycState;
  readonly changedAt: string;
}

/**
 * Events that Ostiary sends, a union by `type`. A newer Ostiary may send other types: ignore them in the
 * `default` branch.
 * @typeParam Own - event types that the host has added, such as `EventOf<'order.shipped', Order>`
 */
export type WebhookEvent<Own extends AnyEvent = never> =
  | EventOf<'payment.completed', CompletedTransfer>
  | EventOf<'payment.failed', FailedTransfer>
  | EventOf<'kyc.updated', KycChange>
  | EventOf<'webhook.test', { readonly message: string }>
  | Own;
