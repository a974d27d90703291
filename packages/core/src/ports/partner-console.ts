import type { IncomingMessage } from 'node:http';
import type { KeyScope } from './api-keys.ts';
import type { JsonObject } from './interactions.ts';
import type { Mode } from './partners.ts';
import type { PortalRights } from './portal.ts';

/**
 * Web pages for the people of a partner, on top of the partner API, such as `sandboxConsole()` of
 * `@ostiary/console`. A console reaches data only through the `ConsoleBackend` that it is given, which calls
 * the same route handlers as the partner API.
 */
export interface PartnerConsole {
  /**
   * Requirements for an API key that may sign in to the console. Keys that demand signed requests are always
   * refused, because people cannot sign a form.
   */
  readonly opensWith: { readonly scope: KeyScope | null; readonly testOnly: boolean };
  /** Returns the console's pages. Called once, at start. */
  pages(backend: ConsoleBackend): readonly ConsolePage[];
  /**
   * Pages of the live portal, which show live data and open with a link from `admin.portal`. @defaultValue no
   * live portal, and therefore no links
   */
  readonly portal?: PartnerPortal;
}

/** The live portal: pages of a console for live data. */
export interface PartnerPortal {
  /**
   * Path below `authUrl` of the page that uses a link to the live portal. The path contains the link's secret
   * as `:link`.
   */
  readonly linkPath: string;
  /** Returns the pages of the live portal. Ostiary calls this function once, at the start. */
  pages(backend: PortalBackend): readonly ConsolePage[];
}

/** A page or an action of a console. */
export interface ConsolePage {
  /** Path below `authUrl`, in the router's notation: `/sandbox/events/:id`. */
  readonly path: string;
  /** One-line description of the page, for the generated documentation. */
  readonly summary: string;
  readonly GET?: ConsoleHandler;
  readonly POST?: ConsoleHandler;
}

/**
 * Handles one request. A thrown `PartnerError` or `OAuthError` is rendered as an error page with its status
 * and text, an outage as a 503, and any other error as the page for internal errors.
 */
export type ConsoleHandler = (request: ConsoleRequest) => Promise<ConsoleAnswer>;

/** A request to a page of a console. */
export interface ConsoleRequest {
  /** Node's request object. The console backend reads its body. */
  readonly raw: IncomingMessage;
  /** Path parameters by name. */
  readonly parameters: { readonly [name: string]: string };
  readonly query: URLSearchParams;
}

/** Response of a console page. The headers that all pages have are added to it. */
export interface ConsoleAnswer {
  readonly status: number;
  /** Extra headers of the response, which override the headers that all pages have. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /**
   * Starts a stream of server-sent events, sent instead of a body with the necessary headers. Called once.
   * Each item is one or more whole messages as text. The next item is requested when the client has received
   * the previous one, and a client that leaves an item unread for ten seconds is disconnected. The stream
   * must end soon after the signal aborts, which happens when the client disconnects or the service closes.
   */
  readonly stream?: (signal: AbortSignal) => AsyncIterable<string>;
  /** File that is sent instead of a body, while it is generated. Browsers save it under its name. */
  readonly download?: {
    /** Media type, such as `text/csv; charset=utf-8`. */
    readonly type: string;
    readonly fileName: string;
    readonly stream: AsyncIterable<string>;
  };
  /**
   * Sources that the page may load, as directives of a Content-Security-Policy. All other sources are
   * blocked.
   */
  readonly sources?: string;
}

/** A route of the partner API. */
export interface ConsoleRoute {
  /** Name of the operation in the OpenAPI description: `getPayment`. */
  readonly operation: string;
  /** HTTP method of the route: `GET`. */
  readonly method: string;
  /** Path of the route, with parameters as `:name`: `/v1/partner/payments/:id`. */
  readonly path: string;
  /** Method of `@ostiary/client-sdk` that calls the route; `null` if the SDK has none. */
  readonly sdk: SdkCall | null;
  /** True if a request may have no body, which then counts as `{}`. */
  readonly bodyIsOptional: boolean;
}

/** A method of `@ostiary/client-sdk` with its arguments. */
export interface SdkCall {
  /**
   * Method and arguments of the SDK call: `payments.create(body)`, `webhooks.update(id, body)`. Arguments
   * other than `body` are named after parameters of the path or query.
   */
  readonly call: string;
  /** True if the call returns a list that the SDK reads page by page. @defaultValue false */
  readonly isList?: boolean;
}

/** Backend of a console: settings of the service, sessions, and calls of the partner API. */
export interface ConsoleBackend {
  /** Name, logo and colour of the service. */
  readonly theme: { readonly name: string; readonly logo?: string | undefined; readonly colour: string };
  /** The service's prefix in headers and token names: `svc`. */
  readonly prefix: string;
  /** Event types, and the example data that a sandbox event of a type has if the caller gives none. */
  readonly events: { readonly types: readonly string[]; example(type: string): JsonObject };
  /** Name of the request header that carries the API key to the partner API. */
  readonly keyHeader: string;
  /** The routes of the partner API. */
  readonly routes: readonly ConsoleRoute[];
  /**
   * True if partner API requests made with test keys are logged; in {@link PortalBackend}, those made with
   * live keys.
   */
  readonly logsRequests: boolean;
  /** True if webhooks may go to http and to private addresses, on a machine for development. */
  readonly allowsPrivateTargets: boolean;
  /** Maximum number of attempts of a delivery. */
  readonly maxAttempts: number;
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Generates a secret for a webhook endpoint: `whsec_` and 256 random bits, in base64 if deliveries have the
   * headers of Standard Webhooks, otherwise in hexadecimal. Does not store it.
   */
  newWebhookSecret(): string;
  /**
   * Stores a new secret, encrypted, until a page shows it, for at most ten minutes. Works with any number of
   * processes.
   * @param visitor - session or name of the only person who may see it
   * @returns the ticket for {@link takeOnce}
   */
  keepOnce(visitor: string, text: string): Promise<string>;
  /**
   * Returns a secret that {@link keepOnce} stored, and deletes it; `null` if it was returned before, has
   * expired, or was stored for another visitor.
   */
  takeOnce(visitor: string, ticket: string): Promise<string | null>;
  /**
   * Returns the full URL of a path below `authUrl`; for the operators' pages, of a path below
   * `{authUrl}/operators`.
   */
  url(path: string): string;
  /** Returns the full URL of a path of the partner API. */
  apiUrl(path: string): string;
  /**
   * Starts a session with an API key that a person typed in, if the partner API would accept that key.
   * @returns the secret of the session, and the number of seconds for which a cookie may keep it
   * @throws PartnerError with the reason why the key is refused; `rate_limit_exceeded` also after too many
   * attempts from an address, or too many sessions of the partner
   */
  signIn(
    key: string,
    request: ConsoleRequest,
  ): Promise<{ readonly session: string; readonly seconds: number }>;
  /**
   * Checks a request of a session as the partner API checks a request with the session's key: the key is
   * valid, the client's IP address is allowed, and the rate limit is not exceeded. Counts the request.
   * @returns `null` if the session has ended, or its key or the client's IP address is refused
   * @throws PartnerError `rate_limit_exceeded`
   */
  visit(session: string, request: ConsoleRequest): Promise<ConsoleVisit | null>;
  /**
   * Repeats the checks of `visit` for a request that was admitted before and whose response is still being
   * sent. Does not count the request again.
   * @returns `null` if the session has ended, or its key or the client's IP address is refused
   * @throws PartnerError `rate_limit_exceeded`
   */
  revisit(session: string, request: ConsoleRequest): Promise<ConsoleVisit | null>;
  /** Ends a session for all processes. Later uses of its secret are refused. */
  signOut(session: string): Promise<void>;
  /**
   * Returns the value for the form field `csrf`, which proves that the form came from a page made for this
   * visitor.
   */
  proof(visitor: string): string;
  /**
   * Reads the fields of a posted form, each of which may occur once.
   * @throws OAuthError if the form is malformed, came from another site or lacks the proof of this visitor;
   * shown as an error page
   */
  form(request: ConsoleRequest, visitor: string): Promise<ReadonlyMap<string, string>>;
}

/**
 * Backend of the live portal. Portal sessions come from links, and see the live data of the link's partner.
 */
export interface PortalBackend extends Omit<ConsoleBackend, 'signIn'> {
  /** True if the service logs partner API requests made with live keys. */
  readonly logsRequests: boolean;
  /**
   * Returns the partner and the rights that a link to the live portal gives, without using up the link;
   * `null` if the link is unknown, was used or has expired, or its partner is disabled.
   */
  findLink(link: string): Promise<{ readonly partner: string; readonly rights: PortalRights } | null>;
  /**
   * Uses up a link to the live portal, and starts the session. A link works once in all processes together.
   * @returns the secret of the new session, and the number of seconds for which a cookie may keep it; `null`
   * if the link is unknown, was used or has expired, or its partner is disabled
   * @throws PartnerError `rate_limit_exceeded` after too many attempts from an address
   */
  open(
    link: string,
    request: ConsoleRequest,
  ): Promise<{ readonly session: string; readonly seconds: number } | null>;
}

/** A console request that passed all checks. */
export interface ConsoleVisit {
  /** The partner's slug. */
  readonly partner: string;
  /** Mode (test or live) of the data that the session sees. */
  readonly mode: Mode;
  /** False if the session may see all pages but change nothing. */
  readonly mayManage: boolean;
  /**
   * Calls an operation of the partner API by its OpenAPI name (`listWebhooks`) on behalf of the session.
   * Consoles may also call operations that the public API does not have: `latestEvents`, `getEvent`,
   * `listEventDeliveries`, `getDelivery`, `getAttemptAnswer`, `getWebhookHistory`, `getWebhookObstacles`,
   * `listEndpointDeliveries`, `listTransfers`, `getPaymentEvent`, `getReconciliation`, `listRequests` and
   * `getRequest`; with a test key also `listSandboxUsers`, `changeSandboxKyc`, `getInboxRequest`,
   * `getFirstRun` and `checkWebhookSignature`.
   * @returns the JSON body of a successful response
   * @throws PartnerError if the operation responds with an error
   */
  call(operation: string, input?: ConsoleInput): Promise<unknown>;
  /**
   * Calls an operation that returns a file, which is made while it is read: `exportReconciliation`, or
   * `downloadReconciliation` and `exportSpreadsheet`, which the public API does not have.
   * @throws PartnerError if the operation responds with an error
   */
  file(operation: string, input?: ConsoleInput): Promise<ConsoleFile>;
}

/** File that an operation returns. */
export interface ConsoleFile {
  /** Media type, such as `text/csv; charset=utf-8`. */
  readonly type: string;
  readonly stream: AsyncIterable<string>;
}

/** Input of a partner API operation. */
export interface ConsoleInput {
  readonly path?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  /** Request body, as JSON text. */
  readonly body?: string;
  /**
   * Value of the header `Idempotency-Key` for operations that support it: repeated calls with one key take
   * effect once.
   */
  readonly idempotencyKey?: string;
}
