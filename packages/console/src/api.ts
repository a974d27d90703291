import type {
  AttemptRequest,
  ConsoleInput,
  ConsoleVisit,
  Delivery,
  FirstRun,
  KycState,
  LoggedRequest,
  PartnerEvent,
  SandboxPassport,
  SignatureCheck,
  Transfer,
  WebhookEndpoint,
} from '@ostiary/core/console';

/** States of a delivery, in the order in which pages list them. */
export const deliveryStatuses = ['pending', 'delivered', 'dropped', 'cancelled'] as const;

/** See {@link deliveryStatuses}. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** An event in a list, with what became of its latest deliveries. */
export interface ListedEvent extends PartnerEvent {
  readonly deliveries: readonly DeliveryStatus[];
  /** True if there are older ones, whose status is unknown. */
  readonly hasMoreDeliveries: boolean;
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

/** A user of the sandbox, as this partner sees it, and as it was in the beginning. */
export interface SandboxUser extends KycState {
  readonly kid: string;
  readonly name: string;
  readonly original: KycState;
}

/** Results of the deliveries to an endpoint that were made within an hour. */
export type HistoryHour = { readonly [Status in DeliveryStatus]: number } & {
  /** Start of the hour, ISO 8601. */
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
    /** Place where the next search continues, because older events may not have been searched. */
    readonly nextBefore: number | null;
  };
  readonly getEvent: PartnerEvent;
  readonly listEventDeliveries: DeliveryPage;
  readonly getAttemptAnswer: { readonly eventId: string; readonly response: string };
  readonly listRequests: { readonly data: readonly LoggedRequest[]; readonly nextCursor: string | null };
  readonly getRequest: LoggedRequest;
  readonly redeliverEvent: { readonly data: readonly unknown[] };
  readonly createSandboxEvent: Omit<PartnerEvent, 'sequence'>;
  readonly whoami: { readonly key: { readonly scopes: readonly string[] } };
  readonly listSandboxUsers: { readonly data: readonly SandboxUser[] };
  readonly createSandboxPassport: SandboxPassport;
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

/** Deliveries on one page: each may have five attempts. */
export const deliveriesPerPage = '10';

/** A query without what is not set: an empty parameter would be one. */
export function queryOf(query: { readonly [name: string]: string | null }): { [name: string]: string } {
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
