import type {
  ConsoleInput,
  ConsoleVisit,
  Delivery,
  LoggedRequest,
  PartnerEvent,
  WebhookEndpoint,
} from '@ostiary/core/console';

/** Where a delivery is, in the order in which pages name it. */
export const deliveryStatuses = ['pending', 'delivered', 'dropped', 'cancelled'] as const;

/** See {@link deliveryStatuses}. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** An event in a list, with what became of its latest deliveries. */
export interface ListedEvent extends PartnerEvent {
  readonly deliveries: readonly DeliveryStatus[];
  /** Whether there are older ones, whose status is not told. */
  readonly hasMoreDeliveries: boolean;
}

/** A request to an endpoint. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What was sent with an attempt. */
export interface AttemptRequest extends SentRequest {
  /** When the endpoint was changed afterwards: URL and signature are those of its present settings. `null`: it was not. */
  readonly changedAt: string | null;
}

/** A delivery whose attempts say what was sent, in the list of one event; `null`: the endpoint is gone. */
export interface ShownDelivery extends Omit<Delivery, 'attempts'> {
  readonly attempts: readonly (Delivery['attempts'][number] & { readonly request?: AttemptRequest | null })[];
}

/** A page of deliveries, the newest first. */
export interface DeliveryPage {
  readonly data: readonly ShownDelivery[];
  readonly nextCursor: string | null;
}

/** The state of an identity check. */
export interface KycState {
  readonly kycStatus: 'approved' | 'pending' | 'rejected';
  readonly kycTier: number;
}

/** A user of the sandbox, as this partner sees it, and as it was in the beginning. */
export interface SandboxUser extends KycState {
  readonly kid: string;
  readonly name: string;
  readonly original: KycState;
}

/** A transfer. */
export interface Transfer {
  readonly id: string;
  readonly status: 'pending' | 'completed' | 'failed';
  readonly amount: string;
  readonly currency: string;
  readonly recipient: { readonly kid: string };
  readonly reference: string | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly createdAt: string;
}

/** A passport, as it is shown once. */
export interface Passport {
  readonly token: string;
  readonly kid: string;
  readonly expiresAt: string;
}

type CheckedAnswer = Pick<Delivery['attempts'][number], 'httpStatus' | 'error' | 'response' | 'durationMs'>;

/** What an endpoint answered to a right and to a wrong signature, and what that says of it. */
export interface SignatureCheck {
  readonly verdict: 'right' | 'takes_forged' | 'fails_at_forged' | 'refuses_genuine' | 'no_answer';
  readonly genuine: CheckedAnswer;
  readonly forged: CheckedAnswer;
}

/** Which steps of the first run are done. */
export interface FirstRun {
  readonly endpoint: boolean;
  readonly event: boolean;
  readonly signature: boolean;
  readonly payment: boolean;
}

/** What became of the deliveries to an endpoint that were made within an hour. */
export type HistoryHour = { readonly [Status in DeliveryStatus]: number } & {
  /** When it began, ISO 8601. */
  readonly from: string;
};

/** The last 24 hours of an endpoint, the oldest first; `isCut`: there were more deliveries than are counted. */
export interface EndpointHistory {
  readonly hours: readonly HistoryHour[];
  readonly isCut: boolean;
}

/** The operations of the partner API that the console's pages are made of, with what they answer. */
interface Answers {
  readonly listWebhooks: { readonly data: readonly WebhookEndpoint[] };
  readonly getWebhook: WebhookEndpoint;
  readonly createWebhook: WebhookEndpoint;
  readonly updateWebhook: unknown;
  readonly deleteWebhook: unknown;
  readonly listDeliveries: DeliveryPage;
  readonly getWebhookHistory: EndpointHistory;
  readonly recoverWebhook: { readonly queued: number };
  /** The newest first. */
  readonly latestEvents: {
    readonly data: readonly ListedEvent[];
    readonly hasMore: boolean;
    /** Where to go on: there may be older ones that were not looked at. */
    readonly nextBefore: number | null;
  };
  readonly getEvent: PartnerEvent;
  readonly listEventDeliveries: DeliveryPage;
  readonly listRequests: { readonly data: readonly LoggedRequest[]; readonly nextCursor: string | null };
  readonly getRequest: LoggedRequest;
  readonly redeliverEvent: { readonly data: readonly unknown[] };
  readonly createSandboxEvent: Omit<PartnerEvent, 'sequence'>;
  readonly whoami: { readonly key: { readonly scopes: readonly string[] } };
  readonly listSandboxUsers: { readonly data: readonly SandboxUser[] };
  readonly createSandboxPassport: Passport;
  readonly changeSandboxKyc: { readonly eventId: string | null };
  readonly createPayment: Transfer;
  readonly getPayment: Transfer;
  readonly getPaymentEvent: { readonly event: PartnerEvent | null };
  readonly checkWebhookSignature: SignatureCheck;
  readonly getFirstRun: FirstRun;
}

/** Calls one of the operations. */
export type Api = <Name extends keyof Answers>(
  operation: Name,
  input?: ConsoleInput,
) => Promise<Answers[Name]>;

/** See {@link Api}. */
export const apiOf = ({ call }: ConsoleVisit): Api => call as Api;

/** Deliveries on one page: each may carry five answers of 16 KiB. */
export const deliveriesPerPage = '10';

/** A query without what is not set: an empty parameter would be one. */
export function queryOf(query: { readonly [name: string]: string | null }): { [name: string]: string } {
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
