import type { AttemptRecord } from './deliveries.ts';
import type { Mode, Owner } from './partners.ts';
import type { NewJob } from './queue.ts';

/** Members that all notices have. */
interface NoticeOrigin {
  /** Unique id of the notice. Each repetition of the notice has the same id, so you can drop repetitions. */
  readonly id: string;
  /** Time at which the notice's cause happened or was found, in ISO 8601. */
  readonly at: string;
  /** Slug (id) of the partner that the notice is about; `null` if the notice is about no partner. */
  readonly partner: string | null;
  /** Name of the notice's partner, as administrators wrote it; `null` if the notice is about no partner. */
  readonly partnerName: string | null;
  /** Mode (test or live) that the notice is about; `null` for both modes. */
  readonly mode: Mode | null;
}

/** Members that all notices about a webhook endpoint have. */
interface EndpointNotice extends NoticeOrigin {
  readonly partner: string;
  readonly partnerName: string;
  readonly mode: Mode;
  /** Id of the webhook endpoint: `we_…`. */
  readonly endpointId: string;
  /**
   * Host name of the endpoint's URL. The notice leaves out the rest of the URL, which may contain a secret of
   * the partner.
   */
  readonly host: string;
  /** Last failed delivery attempt at the endpoint; `at` is in ISO 8601. */
  readonly lastFailure: {
    readonly at: string;
    readonly httpStatus: number | null;
    readonly error: string | null;
  };
}

/** Notice that a webhook endpoint has been failing for an hour. */
export interface EndpointFailingNotice extends EndpointNotice {
  readonly type: 'endpoint.failing';
  /** Start of the endpoint's first failed attempt, in ISO 8601. */
  readonly since: string;
}

/**
 * Notice that a delivery to an endpoint was given up after its last attempt. Until the endpoint works again,
 * there is one such notice for any number of deliveries.
 */
export interface EndpointGivenUpNotice extends EndpointNotice {
  readonly type: 'endpoint.given_up';
}

/**
 * Notice that an endpoint works again after a notice of its failure: the endpoint's last attempt succeeded,
 * no delivery waits for another attempt, and no attempt failed for five minutes.
 */
export interface EndpointWorksNotice extends EndpointNotice {
  readonly type: 'endpoint.works';
}

/** Notice that an API key expires within 14 days. */
export interface ApiKeyEndingNotice extends NoticeOrigin {
  readonly type: 'api_key.ending';
  readonly partner: string;
  readonly partnerName: string;
  readonly mode: Mode;
  /** Id of the API key: `key_…`. */
  readonly keyId: string;
  /** Name of the API key, as an administrator wrote it. */
  readonly keyName: string;
  /** Time at which the API key expires, in ISO 8601. */
  readonly expiresAt: string;
}

/**
 * Notice that a user connected an app: the user approved access while the app had none, for the first time or
 * again after a removal.
 */
export interface AppConnectedNotice extends NoticeOrigin {
  readonly type: 'app.connected';
  /** Id (`sub`) of the user who approved the access. */
  readonly sub: string;
  readonly clientId: string;
  /** Name of the app, as an administrator or the app itself wrote it. */
  readonly clientName: string;
  /** Scopes that the user approved, and URIs of approved resources. */
  readonly scopes: readonly string[];
}

/** Notice that a key which signs ID tokens was rotated. */
export interface SigningKeyRotatedNotice extends NoticeOrigin {
  readonly type: 'signing_key.rotated';
  /** Id of the new signing key. */
  readonly kid: string;
  readonly alg: string;
  /** Time from which the new key signs, in ISO 8601. */
  readonly activeFrom: string;
}

/** Notice of something that a person should know. `type` names the kind of notice. */
export type Notice =
  | EndpointFailingNotice
  | EndpointGivenUpNotice
  | EndpointWorksNotice
  | ApiKeyEndingNotice
  | AppConnectedNotice
  | SigningKeyRotatedNotice;

/**
 * Function that passes a notice to people, for example by e-mail. If the function rejects, Ostiary calls it
 * again later.
 */
export type Notify = (notice: Notice) => Promise<void> | void;

/** A webhook endpoint of which a notice is due. Times are milliseconds since the Unix epoch. */
export interface NoticedEndpoint extends Owner {
  readonly partnerName: string;
  readonly endpointId: string;
  readonly url: string;
  /** Start of the endpoint's first failed attempt; `null` if the endpoint no longer fails. */
  readonly since: number | null;
  /** Last failed delivery attempt at the endpoint. */
  readonly lastFailure: Pick<AttemptRecord, 'at' | 'httpStatus' | 'error'>;
}

/** An API key that expires soon. */
export interface EndingKey extends Owner {
  readonly partnerName: string;
  readonly keyId: string;
  readonly name: string;
  readonly expiresAt: number;
}

/** Endpoints and API keys of which a notice is due. */
export interface DueNotices {
  readonly failing: readonly NoticedEndpoint[];
  readonly givenUp: readonly NoticedEndpoint[];
  readonly works: readonly NoticedEndpoint[];
  readonly endingKeys: readonly EndingKey[];
}

/** Reason why a notice is due of an endpoint or API key. */
export type NoticeReason = keyof DueNotices;

/** Finds endpoints and API keys of which a notice is due, and remembers which notices were made. */
export interface NoticeStore {
  /**
   * Finds endpoints and API keys of which a notice is due and was not recorded, at most `limit` for each
   * reason, none of a disabled partner, and none of an endpoint that is an inbox of this service (`inbox:…`):
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
   * Records that a notice of this endpoint or key was made, and enqueues the notice's job as `queue.enqueue`
   * does, in one transaction. Returns `false` and changes nothing if the notice was recorded before, the
   * endpoint has no stored failure, no longer fails (`failing`) or fails again (`works`), or the key is
   * unknown or revoked. The reason `works` removes the records of `failing` and `givenUp`. The records of an
   * endpoint end with its failure when the endpoint or its partner is disabled, or the endpoint is removed.
   * @param id - id of the endpoint or key
   */
  record(reason: NoticeReason, id: string, now: number, job: NewJob): Promise<boolean>;
}
