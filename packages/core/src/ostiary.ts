import { type Administration, administration } from './admin/administration.ts';
import { resealHandler, resealIntervalMs, resealKind } from './admin/reseal.ts';
import { closeStorage, createCore, openStorage } from './core.ts';
import { createForms, type Forms } from './http/csrf.ts';
import { createRequestHandler, type RequestHandler } from './http/request-handler.ts';
import type { Route } from './http/route.ts';
import { createFetchHandler, type FetchHandler } from './http/web.ts';
import type { AddressedRequest } from './limits/client-address.ts';
import { leftWaitMs, noticeHandler, noticeKind, noticeRetryMs, noticesAtOnce } from './notices/job.ts';
import { noticeSearchHandler, noticeSearchKind, noticeSearchMs } from './notices/search.ts';
import type { ReadDocument } from './oauth/client-documents.ts';
import { type ConnectedApps, connectedApps } from './oauth/connected-apps.ts';
import { Engine } from './oauth/engine/engine.ts';
import { answerError } from './oauth/error-answer.ts';
import { createInteractions } from './oauth/interaction.ts';
import { type InteractionApi, interactionApi } from './oauth/interaction-api.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { createSignOuts, longestSignOutWaitMs, signOutHandler, signOutKind } from './oauth/sign-outs.ts';
import { type TokenChecks, tokenChecks } from './oauth/token-checks.ts';
import type { Core } from './options/context.ts';
import type { OstiaryOptions } from './options/options.ts';
import { type Options, parseOptions } from './options/parse.ts';
import type { Partner, PartnerTopics } from './partner/create-partner.ts';
import { answerPartnerError } from './partner/error-answer.ts';
import type { PartnerRoute } from './partner/request.ts';
import { createPassports, type IssuedPassport } from './passports/passports.ts';
import { executionHandler, executionKind } from './payments/execution.ts';
import { type PaymentAdministration, paymentAdministration } from './payments/settle.ts';
import type { Operators } from './ports/operators.ts';
import type { LongestWaits } from './ports/storage.ts';
import type { Authentication } from './ports/users.ts';
import type { ProtectedResourceSettings } from './resource-server/local.ts';
import type { ProtectedResource } from './resource-server/protected-resource.ts';
import type { AnyScope, HostScopes, ScopeNames } from './scopes/catalog.ts';
import { countRepetitions } from './telemetry/repetitions.ts';
import { FollowedClock, type Schedule, systemClock } from './time/clock.ts';
import { DatabaseClock } from './time/database-clock.ts';
import { createWebhooks, type Webhooks } from './webhooks/create-webhooks.ts';
import type { WebhookClient } from './webhooks/http-client.ts';
import type { KycChanged } from './webhooks/kyc.ts';
import type { EventPublishing } from './webhooks/publish.ts';
import { presenceKind, watchForWorker } from './worker/presence.ts';
import { purgeHandler, purgeIntervalMs, purgeKind } from './worker/purge.ts';
import { together } from './worker/together.ts';
import { createWaitBounds } from './worker/waits.ts';
import { createWorker, type Worker } from './worker/worker.ts';

/**
 * An identity provider: the result of `createOstiary`.
 * @typeParam Name - the names of the instance's scopes, if known at compile time
 */
export interface Ostiary<Name extends string = AnyScope> {
  /** Request handler for `node:http`, Express, Koa and other servers with Node's request and response. */
  readonly handler: RequestHandler;
  /**
   * Request handler for servers with the Web API's `Request` and `Response`, such as Next.js and Hono on Node. In Bun
   * and Deno only this handler is tested, and not the rest of Ostiary.
   */
  readonly fetch: FetchHandler;
  /**
   * Path patterns of all requests that `handler` and `fetch` respond to, with ids as `:id`. Usable as route
   * names in request logs, without personal ids.
   */
  readonly routes: readonly string[];
  /** Worker that runs background jobs and webhook deliveries. Start it in at least one process. */
  readonly worker: Worker;
  /**
   * Administrative calls for partners, clients, keys and more. Over HTTP they are reachable only through the
   * pages of the option `operators`.
   */
  readonly admin: Administration<Name>;
  /** Checks access tokens that an API of yours receives. */
  readonly tokens: TokenChecks<Name>;
  /**
   * Creates a protected resource (RFC 9728) for an entry of the option `resources`: the metadata document
   * that tells apps where to get tokens, and the check of requests. For an API in another process see
   * `@ostiary/core/resource-server`.
   * @throws TypeError for a resource or scope that does not exist
   * @example
   * ```ts
   * const tools = ostiary.protectedResource({ resource: 'https://tools.example.com/mcp', scopes: ['tools:run'] });
   * ```
   */
  protectedResource(settings: ProtectedResourceSettings<Name>): ProtectedResource<Name>;
  readonly passports: {
    /** Issues a passport for a signed-in user, to be shown to a partner within five minutes. */
    issue(sub: string): Promise<IssuedPassport>;
  };
  readonly payments: PaymentAdministration;
  /** Lists the apps to which a user gave access, and revokes that access. */
  readonly consents: ConnectedApps;
  /**
   * Reads consent requests and stores the user's decision, for your own consent page; see the option
   * `interactionUrl`.
   */
  readonly interactions: InteractionApi;
  /** Publishes your own events. Ostiary publishes the events of transfers and identity checks. */
  readonly events: EventPublishing;
  readonly users: {
    /**
     * Notifies partners that a user's identity check changed; see {@link KycChanged}. Call it where your code
     * changes the check, with your transaction.
     */
    readonly kycChanged: KycChanged;
    /** Ends a user's consents and tokens, as `admin.users.end` does. */
    readonly end: Administration['users']['end'];
    /**
     * Notifies the apps of a user who signed out on your pages, if the apps have a `backchannelLogoutUri`. If
     * an app sent the user to Ostiary to sign out, Ostiary does this by itself.
     * @param session - the session that ended, as `login.authenticate` returned it: apps get its `sid`. If left out, apps
     * are notified that all sessions of the user ended
     */
    signedOut(sub: string, session?: Omit<Authentication, 'sub'>): Promise<void>;
  };
  /**
   * Returns the client's IP address of a request: the socket's, or the one that trusted proxies report in
   * `X-Forwarded-For`. Use it in a sign-in page that counts failures, and wherever you need the address that
   * Ostiary sees. Returns `null` if the address cannot be determined.
   */
  readonly clientAddress: (request: AddressedRequest) => string | null;
  /**
   * Returns Ostiary's current time in milliseconds since the Unix epoch: the database's time if several
   * machines share a database. Use it for times that Ostiary compares with its own, such as `authenticatedAt`
   * and the expiry of your sessions.
   */
  readonly now: () => number;
  /** Resolves if the storage responds, and rejects otherwise. Use it for health checks. */
  ready(): Promise<void>;
  /**
   * Ends the event streams that keep console pages up to date, and refuses new ones. Call it before you close
   * your server, so that the server need not wait for them. Without this call, the end of a Node server is
   * noticed within a second.
   */
  endStreams(): void;
  /** Ends event streams, stops the worker and closes the storage. */
  close(): Promise<void>;
}

/**
 * Opens the storage and builds an identity provider on it.
 * @throws TypeError if an option is wrong, or if no sealing key can decrypt a signing key in the database
 * @example
 * ```ts
 * const ostiary = await createOstiary({
 *   authUrl: 'https://id.example.com',
 *   storage: sqliteStorage({ file: 'ostiary.db' }),
 *   sealingKeys: [process.env.SEALING_KEY ?? ''],
 *   users: { find: (sub) => directory.find(sub) },
 *   login: {
 *     authenticate: (request) => sessionOf(request),
 *     loginUrl: (returnTo) => `/login?return_to=${encodeURIComponent(returnTo)}`,
 *   },
 * });
 * http.createServer(ostiary.handler).listen(3000);
 * ```
 */
export async function createOstiary<const Scopes extends HostScopes = HostScopes>(
  given: OstiaryOptions<Scopes>,
): Promise<Ostiary<ScopeNames<Scopes>>> {
  // Types of claims and names in the options matter only to the compiler.
  return assemble(given as unknown as OstiaryOptions, {}) as Promise<Ostiary<ScopeNames<Scopes>>>;
}

/** Parts of the service that only the test kit replaces. */
export interface ReplacedParts {
  /** Posts webhook deliveries, instead of the built-in HTTP client. */
  readonly webhookClient?: WebhookClient;
  /** Reads documents that clients publish (keys, metadata), instead of the built-in HTTP client. */
  readonly readDocument?: ReadDocument;
  /** Starts the timer of a minute after which the number of repetitions of a log line is logged. */
  readonly repetitionTimer?: Schedule;
}

/** Returns, for each kind of job, the longest time that a job which did not fail can wait. */
function longestJobWaits(options: Options): LongestWaits['jobs']['kinds'] {
  const atOnce = { firstMs: 0, againMs: 0 };
  return {
    [purgeKind]: { firstMs: 0, againMs: purgeIntervalMs },
    [presenceKind]: atOnce,
    [resealKind]: { firstMs: resealIntervalMs, againMs: resealIntervalMs },
    [signOutKind]: { firstMs: 0, againMs: longestSignOutWaitMs(options) },
    [executionKind]: atOnce,
    [noticeSearchKind]: { firstMs: 0, againMs: Math.max(noticeSearchMs, leftWaitMs) },
    [noticeKind]: { firstMs: 0, againMs: Math.max(...noticeRetryMs) },
  };
}

/** Creates the worker of the job queue, with a handler for each kind of job. */
function jobWorker(core: Core, { postForm, abort }: Pick<Webhooks, 'postForm' | 'abort'>): Worker {
  const { payments } = core.options;
  const handlers = {
    [purgeKind]: purgeHandler(core, longestJobWaits(core.options)),
    // A claim of this job already proves that a worker runs.
    [presenceKind]: async () => null,
    [resealKind]: resealHandler(core),
    [signOutKind]: signOutHandler(core, postForm),
    [noticeSearchKind]: noticeSearchHandler(core),
    [noticeKind]: noticeHandler(core),
    ...(payments && { [executionKind]: executionHandler(core, payments) }),
  };
  const atOnce = { [executionKind]: 64, [signOutKind]: 256, [noticeKind]: noticesAtOnce };
  return createWorker(core, handlers, { atOnce, abort });
}

/** Creates the partner API. Its code is loaded only if the API is enabled. */
async function partnerOf(core: Core, topics: PartnerTopics): Promise<Partner> {
  const { createPartner } = await import('./partner/create-partner.ts');
  return createPartner(core, topics);
}

/** Creates the function `ostiary.protectedResource`. Its code is loaded only with the option `resources`. */
async function protectedResources(core: Core, tokens: TokenChecks): Promise<Ostiary['protectedResource']> {
  if (core.options.resources === undefined) {
    return () => {
      throw new TypeError('protectedResource: needs the option resources');
    };
  }
  const { localResources } = await import('./resource-server/local.ts');
  return localResources(core, tokens);
}

/** Creates the routes of the operators' pages. Their code is loaded only if the pages are enabled. */
async function operatorPages(core: Core, admin: Administration, forms: Forms): Promise<readonly Route[]> {
  if (core.options.operators === undefined) return [];
  const { operatorRoutes } = await import('./operators/routes.ts');
  // The ports cannot name the type of the administration, for which these pages are made.
  return operatorRoutes(core, core.options.operators as Operators<Administration>, admin, forms);
}

/** A service together with its tables of routes, from which the reference pages are generated. */
export interface Assembled {
  readonly ostiary: Ostiary;
  readonly routes: readonly Route[];
  readonly partnerRoutes: readonly PartnerRoute[];
}

/** Creates a service as `createOstiary` does, with some parts replaced for tests. */
export async function assemble(given: OstiaryOptions, replaced: ReplacedParts): Promise<Ostiary> {
  return (await assembleWithTables(given, replaced)).ostiary;
}

/** Creates a service as {@link assemble} does, and also returns its tables of routes. */
export async function assembleWithTables(given: OstiaryOptions, replaced: ReplacedParts): Promise<Assembled> {
  const parsed = await parseOptions(given);
  const logger = countRepetitions({ logger: parsed.logger, schedule: replaced.repetitionTimer });
  const options: Options = Object.freeze({ ...parsed, logger });
  const { storage } = options;
  // A clock from the host takes precedence over that of the database.
  const time = options.clock === undefined ? storage.time?.bind(storage) : undefined;
  const databaseClock = time === undefined ? null : new DatabaseClock({ time, logger });
  const clock = new FollowedClock(options.clock ?? databaseClock ?? systemClock);
  const core = await createCore(options, clock, (work) => working.tell(work), replaced.readDocument);
  await openStorage(core, databaseClock);

  const engine = new Engine(core);
  const forms = createForms(core);
  const interactions = createInteractions(core, engine, forms);
  const consents = connectedApps(core);
  const webhooks = createWebhooks(core, replaced.webhookClient);
  const signOuts = createSignOuts(core);
  const jobs = jobWorker(core, webhooks);
  const working = together({ jobs, deliveries: webhooks.worker }, storage.wakeUps);
  const waits = createWaitBounds(core, longestJobWaits(options));
  clock.onStepBack(waits.clockWentBack);
  const { worker, stop: stopWatching } = watchForWorker(core, waits.around(working.worker));
  const passports = createPassports(core);
  const tokens = tokenChecks(core);
  const partner = options.payments && (await partnerOf(core, { passports, webhooks, forms }));
  const admin = administration(core, {
    forgetKeys: () => partner?.forgetKeys(),
    checkTarget: webhooks.checkTarget,
    noticesOf: signOuts.ofAllSessions,
  });

  const routes = [
    ...(await oauthRoutes(core, engine, interactions, consents, forms, signOuts)),
    ...(partner?.routes ?? []),
    ...(await operatorPages(core, admin, forms)),
  ];
  const handler = createRequestHandler(core, routes, (ctx, error, expects) =>
    expects === 'partner' ? answerPartnerError(core, ctx, error) : answerError(core, ctx, error, expects),
  );

  const ostiary: Ostiary = {
    handler,
    fetch: createFetchHandler(handler),
    routes: routes.map(({ path }) => path),
    worker,
    admin,
    tokens,
    protectedResource: await protectedResources(core, tokens),
    passports: { issue: (sub) => passports.issue(sub, 'live') },
    payments: paymentAdministration(core),
    events: webhooks.publishing,
    consents,
    interactions: interactionApi(interactions, forms, core),
    users: { kycChanged: webhooks.kycChanged, end: admin.users.end, signedOut: signOuts.tell },
    clientAddress: core.clientAddress,
    now: () => clock.now(),
    ready: () => storage.ping(),
    endStreams: () => partner?.endStreams(),
    async close() {
      partner?.endStreams();
      stopWatching();
      databaseClock?.stop();
      await worker.stop();
      await waits.close();
      await webhooks.close();
      await partner?.settled();
      await core.counts.close();
      await closeStorage(storage);
      logger.close();
    },
  };
  return { ostiary, routes, partnerRoutes: partner?.table ?? [] };
}
