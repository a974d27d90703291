import type { IncomingMessage } from 'node:http';
import type { KeyScope } from './api-keys.ts';
import type { JsonObject } from './interactions.ts';

/**
 * Pages over the partner API, for the people of a partner: `sandboxConsole()` of `@ostiary/console` is one. It is given what
 * serves the routes of the partner API, and has no other way to anything.
 */
export interface PartnerConsole {
  /**
   * Requirements of a key that opens it. A key that demands signed requests never does, because people cannot
   * sign a form.
   */
  readonly opensWith: { readonly scope: KeyScope | null; readonly testOnly: boolean };
  /** Its pages; called once. */
  pages(desk: ConsoleDesk): readonly ConsolePage[];
}

/** A page or an action of a console. */
export interface ConsolePage {
  /** Below `authUrl`, in the notation of the router: `/sandbox/events/:id`. */
  readonly path: string;
  /** For the documentation. */
  readonly summary: string;
  readonly GET?: ConsoleHandler;
  readonly POST?: ConsoleHandler;
}

/** Answers one request. What it throws becomes a page: that of a `PartnerError`, or of a defect. */
export type ConsoleHandler = (request: ConsoleRequest) => Promise<ConsoleAnswer>;

/** A request below a console's paths. */
export interface ConsoleRequest {
  /** The request as Node has it. The console backend reads its body. */
  readonly raw: IncomingMessage;
  /** Parameters of the path. */
  readonly parameters: { readonly [name: string]: string };
  readonly query: URLSearchParams;
}

/** Response. The headers of every page are added. */
export interface ConsoleAnswer {
  readonly status: number;
  /** Beside or instead of the headers of every page. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /**
   * Server-sent events instead of a body, with the headers that they need: their text, in whole messages.
   * Called once. The next message is requested when the reader has taken the previous one. A reader that
   * takes nothing for ten seconds is dropped. The source must end soon after the signal was aborted, because
   * the reader is gone or the service closes.
   */
  readonly stream?: (signal: AbortSignal) => AsyncIterable<string>;
  /** Resources that the page loads, as directives of a Content-Security-Policy. All others are forbidden. */
  readonly sources?: string;
}

/** A route of the partner API. */
export interface ConsoleRoute {
  /** Its name in the OpenAPI description: `getPayment`. */
  readonly operation: string;
  /** The HTTP method: `GET`. */
  readonly method: string;
  /** The path, with its parameter as `:name`: `/v1/partner/payments/:id`. */
  readonly path: string;
  /** Call of `@ostiary/client-sdk`; `null` if it has none. */
  readonly sdk: SdkCall | null;
  /** True if a request may leave its body out, which means `{}`. */
  readonly bodyIsOptional: boolean;
}

/** A call of `@ostiary/client-sdk`. */
export interface SdkCall {
  /**
   * Method and arguments: `payments.create(body)`, `webhooks.update(id, body)`. Arguments other than `body` are parameters of the path
   * or of the query, by their names.
   */
  readonly call: string;
  /** True if it returns a list that is read page by page. @defaultValue false */
  readonly isList?: boolean;
}

/** Dependencies of a console. */
export interface ConsoleDesk {
  /** Name, logo and colour of the service. */
  readonly theme: { readonly name: string; readonly logo?: string | undefined; readonly colour: string };
  /** The wire prefix: `svc`. */
  readonly prefix: string;
  /** Types of events, and what a sandbox event of one carries unless its caller says otherwise. */
  readonly events: { readonly types: readonly string[]; example(type: string): JsonObject };
  /** The header of a request to the partner API that carries the key. */
  readonly keyHeader: string;
  /** The routes of the partner API. */
  readonly routes: readonly ConsoleRoute[];
  /** True if requests of test keys are logged. */
  readonly logsRequests: boolean;
  /** Maximum number of attempts of a delivery. */
  readonly maxAttempts: number;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** A secret for a webhook endpoint: `whsec_` and 256 random bits in hexadecimal. It is stored nowhere. */
  newWebhookSecret(): string;
  /** The address of a path below `authUrl`. */
  url(path: string): string;
  /** The address of a path of the partner API. */
  apiUrl(path: string): string;
  /**
   * Begins a session with a key that a person typed in, if the partner API admits it.
   * @returns the secret of the session, to be kept in a cookie for so many seconds
   * @throws PartnerError why it is not admitted; `rate_limit_exceeded` also for too many attempts of an address
   */
  signIn(
    key: string,
    request: ConsoleRequest,
  ): Promise<{ readonly session: string; readonly seconds: number }>;
  /**
   * Admits a request of a session as the partner API admits one of its key: alive, from an allowed address, within the limit.
   * @returns `null` where the session is over or its key no longer admitted
   * @throws PartnerError `rate_limit_exceeded`
   */
  visit(session: string, request: ConsoleRequest): Promise<ConsoleVisit | null>;
  /**
   * Admits again a request that `visit` admitted and whose answer goes on: the same checks, but it is not counted.
   * @returns `null` where the session is over or its key no longer admitted
   * @throws PartnerError `rate_limit_exceeded`
   */
  revisit(session: string, request: ConsoleRequest): Promise<ConsoleVisit | null>;
  /** Ends a session: a copy of its secret opens nothing any more, in no process. */
  signOut(session: string): Promise<void>;
  /** Value of the field `csrf` of a form, which proves that it came from a page for this visitor. */
  proof(visitor: string): string;
  /**
   * The fields of a form that was posted, each at most once.
   * @throws an error that is shown as a page, where it came from another site or carries no proof of this visitor
   */
  form(request: ConsoleRequest, visitor: string): Promise<ReadonlyMap<string, string>>;
}

/** An admitted request. */
export interface ConsoleVisit {
  /** The partner's slug. */
  readonly partner: string;
  /**
   * Calls an operation of the partner API by its name in the description (`listWebhooks`), in the name of the session's key,
   * with parameters of the path and the query and a body as it takes them. Beside those a console reads `latestEvents`,
   * `getEvent`, `listEventDeliveries`, `getAttemptAnswer` and `getWebhookHistory`; with a test key also `listSandboxUsers`,
   * `getPaymentEvent`, `getFirstRun` and `checkWebhookSignature`.
   * @returns the JSON that it answers
   * @throws PartnerError what it answers instead
   */
  call(operation: string, input?: ConsoleInput): Promise<unknown>;
}

/** Input of an operation. */
export interface ConsoleInput {
  readonly path?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  /** JSON, as text. */
  readonly body?: string;
  /** As the header `Idempotency-Key`, for operations that take it: what is called twice with one takes effect once. */
  readonly idempotencyKey?: string;
}
