import type {
  AttemptRequest,
  ConsoleInput,
  ConsoleVisit,
  Delivery,
  deliveryStates,
  FirstRun,
  InboxRequest,
  KycState,
  LoggedRequest,
  PartnerEvent,
  ReconciliationSummary,
  SandboxPassport,
  SignatureCheck,
  Transfer,
  WebhookEndpoint,
  WebhookObstacle,
} from '@ostiary/core/console';
import { orderOf, timeOrders } from './list-order.ts';

/** State of a delivery, as the console's pages name it. */
export type DeliveryState = (typeof deliveryStates)[number];

/** An event in a list, with the states of its latest deliveries. */
export interface ListedEvent extends PartnerEvent {
  readonly deliveries: readonly DeliveryState[];
  /** True if the event has older deliveries, whose states are not in the list. */
  readonly hasMoreDeliveries: boolean;
}

/**
 * A delivery in a list. In test mode, each attempt can include its HTTP request: `null` if it is unknown,
 * `undefined` if the list leaves requests out.
 */
export interface ShownDelivery extends Omit<Delivery, 'attempts'> {
  readonly attempts: readonly (Delivery['attempts'][number] & { readonly request?: AttemptRequest | null })[];
}

/** Page of a list that is sorted by time. */
export interface ListPage<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
  /** Value of the query parameter `before` for the page before this one; `null` on the first page. */
  readonly previousCursor: string | null;
  /** Number of items that fit the filters, counted up to 10,000. */
  readonly count: number;
}

/** A user of the sandbox as this partner sees it, with the original state of the identity check. */
export interface SandboxUser extends KycState {
  readonly kid: string;
  readonly name: string;
  readonly original: KycState;
}

/** Number of deliveries to an endpoint within one hour, by state. */
export type HistoryHour = { readonly [State in DeliveryState]: number } & {
  /** Start of the hour, ISO 8601. */
  readonly from: string;
};

/**
 * Numbers of deliveries to an endpoint in the last 24 hours, oldest hour first. `isCut` is true if there were
 * more deliveries than were counted.
 */
export interface EndpointHistory {
  readonly hours: readonly HistoryHour[];
  readonly isCut: boolean;
}

/** Operations of the partner API that the console uses, with the types of their results. */
interface Answers {
  readonly listWebhooks: { readonly data: readonly WebhookEndpoint[] };
  readonly getWebhook: WebhookEndpoint;
  readonly createWebhook: WebhookEndpoint;
  readonly updateWebhook: unknown;
  readonly deleteWebhook: unknown;
  readonly listDeliveries: { readonly data: readonly ShownDelivery[] };
  readonly listEndpointDeliveries: ListPage<ShownDelivery>;
  readonly getWebhookHistory: EndpointHistory;
  readonly getWebhookObstacles: { readonly data: readonly WebhookObstacle[] };
  readonly recoverWebhook: { readonly queued: number };
  /** Page of events, newest first. */
  readonly latestEvents: {
    readonly data: readonly ListedEvent[];
    readonly hasMore: boolean;
    /**
     * Position at which the next search for events continues, since older events may not have been searched
     * yet; `null` at the end.
     */
    readonly nextBefore: number | null;
    /**
     * Sequence numbers of the oldest and the newest stored event; `null` if the list is filtered, or if no
     * event is stored.
     */
    readonly range: { readonly oldest: number; readonly newest: number } | null;
  };
  readonly getEvent: PartnerEvent;
  readonly listEventDeliveries: ListPage<ShownDelivery>;
  readonly getDelivery: Delivery;
  readonly getAttemptAnswer: { readonly eventId: string; readonly response: string };
  readonly listRequests: ListPage<LoggedRequest>;
  readonly getRequest: LoggedRequest;
  readonly redeliverEvent: { readonly data: readonly unknown[] };
  readonly createSandboxEvent: Omit<PartnerEvent, 'sequence'>;
  readonly whoami: { readonly key: { readonly scopes: readonly string[] } };
  readonly listSandboxUsers: { readonly data: readonly SandboxUser[] };
  readonly createSandboxPassport: SandboxPassport;
  readonly changeSandboxKyc: { readonly eventId: string | null };
  readonly createPayment: Transfer;
  readonly getPayment: Transfer;
  readonly listPayments: { readonly data: readonly Transfer[] };
  readonly listTransfers: ListPage<Transfer>;
  readonly getReconciliation: ReconciliationSummary;
  readonly getPaymentEvent: { readonly event: PartnerEvent | null };
  readonly checkWebhookSignature: SignatureCheck;
  readonly getFirstRun: FirstRun;
  readonly listInboxRequests: { readonly data: readonly InboxRequest[] };
  readonly getInboxRequest: InboxRequest;
}

/** Function that calls an operation of the partner API. */
export type Api = <Name extends keyof Answers>(
  operation: Name,
  input?: ConsoleInput,
) => Promise<Answers[Name]>;

/** Returns the function with which a visitor's page calls the partner API; see {@link Api}. */
export const apiOf = ({ call }: ConsoleVisit): Api => call as Api;

/** Number of deliveries on a page. By default, a delivery has up to five attempts. */
export const deliveriesPerPage = 10;

/**
 * Removes parameters without a value from a query, because the API would take an empty parameter for a value.
 */
export function queryOf(query: { readonly [name: string]: string | null }): { [name: string]: string } {
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** Returns the parameters of the partner API for the page and the order of a list that the URL of a page names. */
export const placeOf = (query: URLSearchParams): { [name: string]: string } =>
  queryOf({
    cursor: query.get('after'),
    before: query.get('before'),
    order: orderOf(query, timeOrders),
  });
