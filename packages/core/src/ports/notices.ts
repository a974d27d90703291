import type { AttemptRecord } from './deliveries.ts';
import type { Mode, Owner } from './partners.ts';
import type { NewJob } from './queue.ts';

/** Part that all notices have. */
interface NoticeOrigin {
  /** Unique id of the notice. Each repetition of the notice has the same id, so you can drop repetitions. */
  readonly id: string;
  /** Time at which it happened, or was noticed; ISO 8601. */
  readonly at: string;
  /** Slug of the partner concerned; `null` if the notice concerns none. */
  readonly partner: string | null;
  /** Name of this partner, as its administrators wrote it; `null` without a partner. */
  readonly partnerName: string | null;
  /** `null` if the notice concerns both modes. */
  readonly mode: Mode | null;
}

/** Part of the notices about a webhook endpoint. */
interface EndpointNotice extends NoticeOrigin {
  readonly partner: string;
  readonly partnerName: string;
  readonly mode: Mode;
  /** `we_…`. */
  readonly endpointId: string;
  /** Host name of the endpoint's URL. The rest of the URL may contain a secret of the partner. */
  readonly host: string;
  /** The last failed attempt; `at` is ISO 8601. */
  readonly lastFailure: {
    readonly at: string;
    readonly httpStatus: number | null;
    readonly error: string | null;
  };
}

/** An endpoint has been failing for an hour. */
export interface EndpointFailingNotice extends EndpointNotice {
  readonly type: 'endpoint.failing';
  /** Start of the first failed attempt, ISO 8601. */
  readonly since: string;
}

/**
 * A delivery to an endpoint was given up after its last attempt. There is one such notice until the endpoint
 * works again, for any number of deliveries.
 */
export interface EndpointGivenUpNotice extends EndpointNotice {
  readonly type: 'endpoint.given_up';
}

/**
 * An endpoint works again after one of the other two notices: its last attempt succeeded, no delivery waits
 * for another attempt, and no attempt failed for five minutes.
 */
export interface EndpointWorksNotice extends EndpointNotice {
  readonly type: 'endpoint.works';
}

/** An API key expires within 14 days. */
export interface ApiKeyEndingNotice extends NoticeOrigin {
  readonly type: 'api_key.ending';
  readonly partner: string;
  readonly partnerName: string;
  readonly mode: Mode;
  /** `key_…`. */
  readonly keyId: string;
  /** Name of the key, as an administrator wrote it. */
  readonly keyName: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** A user connected an app: approved its access while it had none. */
export interface AppConnectedNotice extends NoticeOrigin {
  readonly type: 'app.connected';
  /** User who approved the access. */
  readonly sub: string;
  readonly clientId: string;
  /** Name of the app, as an administrator or the app itself wrote it. */
  readonly clientName: string;
  /** Approved scopes, and URIs of approved resources. */
  readonly scopes: readonly string[];
}

/** A key that signs ID tokens was rotated. */
export interface SigningKeyRotatedNotice extends NoticeOrigin {
  readonly type: 'signing_key.rotated';
  /** Id of the new key. */
  readonly kid: string;
  readonly alg: string;
  /** Time from which the new key signs, ISO 8601. */
  readonly activeFrom: string;
}

/** Something that a person should hear of. `type` says which. */
export type Notice =
  | EndpointFailingNotice
  | EndpointGivenUpNotice
  | EndpointWorksNotice
  | ApiKeyEndingNotice
  | AppConnectedNotice
  | SigningKeyRotatedNotice;

/** Passes a notice on, such as by e-mail. If it rejects, the notice is tried again later. */
export type Notify = (notice: Notice) => Promise<void> | void;

/** An endpoint of which a notice is due. Times are milliseconds since the Unix epoch. */
export interface NoticedEndpoint extends Owner {
  readonly partnerName: string;
  readonly endpointId: string;
  readonly url: string;
  /** Start of the first failed attempt; `null` if the endpoint does not fail any more. */
  readonly since: number | null;
  /** The last failed attempt. */
  readonly lastFailure: Pick<AttemptRecord, 'at' | 'httpStatus' | 'error'>;
}

/** An API key that expires soon. */
export interface EndingKey extends Owner {
  readonly partnerName: string;
  readonly keyId: string;
  readonly name: string;
  readonly expiresAt: number;
}

/** Endpoints and keys of which a notice is due. */
export interface DueNotices {
  readonly failing: readonly NoticedEndpoint[];
  readonly givenUp: readonly NoticedEndpoint[];
  readonly works: readonly NoticedEndpoint[];
  readonly endingKeys: readonly EndingKey[];
}

/** Reason of a notice that a search found. */
export type NoticeReason = keyof DueNotices;

/** Finds what a notice is due of, and remembers what was noticed. */
export interface NoticeStore {
  /**
   * Finds at most `limit` of each kind that were not recorded yet, each unless its partner is disabled:
   *
   * - `failing`: endpoints that fail since `failingSince` or before, with a failed attempt at `recentSince` or
   *   later;
   * - `givenUp`: failed endpoints with a delivery that was dropped after `recentSince`, after the last recorded
   *   `works`, and after the last change of the endpoint and of its partner;
   * - `works`: endpoints with a recorded `failing` or `givenUp` that do not fail any more, and of which no attempt
   *   has failed after `quietSince`;
   * - `endingKeys`: unrevoked keys that expire after `now`, and at `keysUntil` or before.
   */
  due(request: {
    readonly now: number;
    readonly failingSince: number;
    readonly recentSince: number;
    readonly quietSince: number;
    readonly keysUntil: number;
    readonly limit: number;
  }): Promise<DueNotices>;

  /**
   * Records that a notice of this endpoint or key was made, and enqueues its job as `queue.enqueue` does, in one
   * transaction. Returns `false` and changes nothing if it was recorded before, or does not apply any more. `works`
   * removes the records of `failing` and `givenUp`. The records of an endpoint end with its failure when the
   * endpoint or its partner is disabled, or the endpoint is removed.
   * @param id - id of the endpoint or key
   */
  record(reason: NoticeReason, id: string, now: number, job: NewJob): Promise<boolean>;
}
