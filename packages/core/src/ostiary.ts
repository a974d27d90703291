import { type Administration, administration } from './admin/administration.ts';
import { resealHandler, resealIntervalMs, resealKind, scheduleReseal } from './admin/reseal.ts';
import { createRequestHandler, type RequestHandler } from './http/app.ts';
import { createForms, type Forms } from './http/csrf.ts';
import type { Route } from './http/route.ts';
import { createFetchHandler, type FetchHandler } from './http/web.ts';
import { createSealer } from './keys/sealing.ts';
import { SigningKeys } from './keys/signing-keys.ts';
import type { AddressedRequest } from './limits/client-address.ts';
import { clientAddressFinder } from './limits/client-address.ts';
import { type ConnectedApps, connectedApps } from './oauth/connected-apps.ts';
import { Engine } from './oauth/engine/engine.ts';
import { answerError } from './oauth/error-answer.ts';
import { createInteractions } from './oauth/interaction.ts';
import { type InteractionApi, interactionApi } from './oauth/interaction-api.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { createSignOuts, longestSignOutWaitMs, signOutHandler, signOutKind } from './oauth/sign-outs.ts';
import { type TokenChecks, tokenChecks } from './oauth/token-checks.ts';
import type { Core } from './options/context.ts';
import { type Options, type OstiaryOptions, parseOptions } from './options/options.ts';
import type { Partner, PartnerTopics } from './partner/create.ts';
import { answerPartnerError } from './partner/error-answer.ts';
import type { PartnerRoute } from './partner/request.ts';
import { createPassports, type IssuedPassport } from './passports/passports.ts';
import { executionHandler, executionKind } from './payments/execution.ts';
import { type PaymentAdministration, paymentAdministration } from './payments/settle.ts';
import type { Clock } from './ports/clock.ts';
import type { Operators } from './ports/operators.ts';
import type { LongestWaits, Storage } from './ports/storage.ts';
import type { Authentication } from './ports/users.ts';
import type { AnyScope, HostScopes, ScopeNames } from './scopes/catalog.ts';
import { missingFieldLog } from './scopes/user-record.ts';
import { systemRandom } from './secrets/random.ts';
import { tokenFormats } from './secrets/tokens.ts';
import type { Logger } from './telemetry/logger.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { FollowedClock, systemClock } from './time/clock.ts';
import { DatabaseClock } from './time/database-clock.ts';
import type { WebhookClient } from './webhooks/client.ts';
import { createWebhooks, type Webhooks } from './webhooks/create.ts';
import type { KycChanged } from './webhooks/kyc.ts';
import type { EventPublishing } from './webhooks/publish.ts';
import { presenceKind, watchForWorker } from './worker/presence.ts';
import { purgeHandler, purgeIntervalMs, purgeKind, schedulePurge } from './worker/purge.ts';
import { together } from './worker/together.ts';
import { createWaitBounds } from './worker/waits.ts';
import { createWorker, type Worker } from './worker/worker.ts';

/** Storages of the instances of this process that are open. */
const inUse = new WeakSet<Storage>();

/** @throws TypeError when another instance has the storage, which would be closed while this one uses it */
function claimStorage(storage: Storage): void {
  if (inUse.has(storage)) {
    throw new TypeError(
      'createOstiary: storage: another instance of this process uses this object; share that instance, or make a storage for each',
    );
  }
  inUse.add(storage);
}

/**
 * An identity provider, ready to answer requests.
 * @typeParam Name - the names of its scopes, where the compiler knows them
 */
export interface Ostiary<Name extends string = AnyScope> {
  /** For `node:http`, Express, Koa and everything else that has Node's request and response. */
  readonly handler: RequestHandler;
  /** For servers that have the Web API's `Request` and `Response`: Next.js, Hono, Bun, Deno. */
  readonly fetch: FetchHandler;
  /** Paths of the two handlers, with ids as `:id`: route names for request logs, without personal ids. */
  readonly routes: readonly string[];
  /** Work in the background; start it in at least one process. */
  readonly worker: Worker;
  /** For administrators. Nothing of this can be reached over HTTP, but on the pages of the option `operators`. */
  readonly admin: Administration<Name>;
  /** Access tokens that an API of yours is given. */
  readonly tokens: TokenChecks<Name>;
  readonly passports: {
    /** Issues a passport for a signed-in user, to be shown to a partner within five minutes. */
    issue(sub: string): Promise<IssuedPassport>;
  };
  readonly payments: PaymentAdministration;
  /** Apps to which a user gave access, and revoking that access. */
  readonly consents: ConnectedApps;
  /** For a consent page of your own; see the option `interactionUrl`. */
  readonly interactions: InteractionApi;
  /** Events of your own; those of transfers and identity checks are published by Ostiary. */
  readonly events: EventPublishing;
  readonly users: {
    /**
     * Notifies partners that a user's identity check changed; see {@link KycChanged}. Call it where you make
     * the change, with your transaction.
     */
    readonly kycChanged: KycChanged;
    /** The same as `admin.users.end`. */
    readonly end: Administration['users']['end'];
    /**
     * Notifies the apps of a user who signed out at your pages, those with a `backchannelLogoutUri`. Ostiary does it by itself if an app
     * sent the user here to sign out.
     * @param session - the one that ended, as `login.authenticate` returned it: apps get its `sid`. Without it apps are told that all
     * sessions of the user ended
     */
    signedOut(sub: string, session?: Omit<Authentication, 'sub'>): Promise<void>;
  };
  /**
   * Returns the client address of a request: the socket's, or the one that trusted proxies report in
   * `X-Forwarded-For`. Use it for a sign-in page that counts failures, and wherever you need the address that
   * Ostiary sees. `null` if it cannot be determined.
   */
  readonly clientAddress: (request: AddressedRequest) => string | null;
  /**
   * Returns the time of Ostiary, in milliseconds since the Unix epoch: the database's, if several machines
   * share one. Use it for values that must agree with it, such as `authenticatedAt` and the end of your
   * sessions.
   */
  readonly now: () => number;
  /** Resolves when the storage answers; rejects when it does not. For health checks. */
  ready(): Promise<void>;
  /**
   * Ends the answers that would go on for minutes, those that keep pages of the console up to date, and lets none begin. Call it when your
   * server is about to close, so that it need not wait for them. Servers of Node's that stop listening are noticed within a second
   * without it.
   */
  endStreams(): void;
  /** Ends those streams, stops the worker and closes the storage. */
  close(): Promise<void>;
}

/**
 * Opens the storage and builds an identity provider on it.
 * @throws TypeError when an option is wrong, or when no sealing key opens the database
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
  // Types of claims and names in the options only matter to the compiler.
  return assemble(given as unknown as OstiaryOptions, {}) as Promise<Ostiary<ScopeNames<Scopes>>>;
}

/** Parts that only the test kit replaces. */
export interface Seams {
  /** Posts deliveries, instead of the client that dials sockets. */
  readonly webhookClient?: WebhookClient;
}

/** Warns once of requests from a Unix socket whose peer is not trusted. */
function unixPeerWarning(logger: Logger): () => void {
  let isLogged = false;
  return () => {
    if (isLogged) return;
    isLogged = true;
    logger.warn(
      {},
      "requests come over a Unix socket and have no address: add 'unix' to trustedProxies, or allowlists refuse every caller and all callers share one rate limit",
    );
  };
}

/** The dependencies of all rooms. `wake` is set once there is a worker. */
async function coreOf(options: Options, clock: Clock, wake: Core['wake']): Promise<Core> {
  const { storage } = options;
  const sealer = createSealer(options.sealingKeys, systemRandom);
  return {
    options,
    storage,
    clock,
    random: systemRandom,
    sealer,
    signingKeys: new SigningKeys({ store: storage.signingKeys, sealer, clock, random: systemRandom }),
    tokens: tokenFormats(options.prefix),
    telemetry: options.telemetry ? await createTelemetry() : null,
    wake,
    logMissingFields: missingFieldLog(options.logger),
    clientAddress: clientAddressFinder(options.trustedProxies, unixPeerWarning(options.logger)),
  };
}

/** Opens the storage and what is read of it at the start; leaves nothing open where that fails. */
async function openStorage(core: Core, databaseClock: DatabaseClock | null): Promise<void> {
  const { storage, signingKeys } = core;
  claimStorage(storage);
  try {
    await storage.open(({ message: reason }) =>
      core.options.logger.warn({ reason }, 'the database does not answer yet; waiting for it'),
    );
  } catch (error) {
    inUse.delete(storage);
    throw error;
  }
  try {
    await databaseClock?.start();
    await signingKeys.start();
    await schedulePurge(core);
    await scheduleReseal(core);
  } catch (error) {
    databaseClock?.stop();
    // An open database would keep the process alive that could not start.
    await storage.close().catch(() => undefined);
    inUse.delete(storage);
    throw error;
  }
}

/** Returns the longest waits of each kind of job, but for failures. */
function longestJobWaits(options: Options): LongestWaits['jobs']['kinds'] {
  const atOnce = { firstMs: 0, againMs: 0 };
  return {
    [purgeKind]: { firstMs: 0, againMs: purgeIntervalMs },
    [presenceKind]: atOnce,
    [resealKind]: { firstMs: resealIntervalMs, againMs: resealIntervalMs },
    [signOutKind]: { firstMs: 0, againMs: longestSignOutWaitMs(options) },
    [executionKind]: atOnce,
  };
}

/** The worker of the queue, with a handler for each kind of job. */
function jobWorker(core: Core, { postForm, abort }: Pick<Webhooks, 'postForm' | 'abort'>): Worker {
  const { payments } = core.options;
  const handlers = {
    [purgeKind]: purgeHandler(core, longestJobWaits(core.options)),
    // To take it is all that is to be done.
    [presenceKind]: async () => null,
    [resealKind]: resealHandler(core),
    [signOutKind]: signOutHandler(core, postForm),
    ...(payments && { [executionKind]: executionHandler(core, payments) }),
  };
  return createWorker(core, handlers, { atOnce: { [executionKind]: 64, [signOutKind]: 256 }, abort });
}

/** The partner API, loaded where there is one. */
async function partnerOf(core: Core, topics: PartnerTopics): Promise<Partner> {
  const { createPartner } = await import('./partner/create.ts');
  return createPartner(core, topics);
}

/** The pages for operators, loaded where there are some. */
async function operatorPages(core: Core, admin: Administration, forms: Forms): Promise<readonly Route[]> {
  if (core.options.operators === undefined) return [];
  const { operatorRoutes } = await import('./operators/routes.ts');
  // The ports know nothing of the administration, which those pages are made for.
  return operatorRoutes(core, core.options.operators as Operators<Administration>, admin, forms);
}

/** A service with the tables of its routes, which the reference pages are made of. */
export interface Assembled {
  readonly ostiary: Ostiary;
  readonly routes: readonly Route[];
  readonly partnerRoutes: readonly PartnerRoute[];
}

/** `createOstiary` with other parts inside. */
export async function assemble(given: OstiaryOptions, seams: Seams): Promise<Ostiary> {
  return (await assembleWithTables(given, seams)).ostiary;
}

/** As {@link assemble}, with the tables. */
export async function assembleWithTables(given: OstiaryOptions, seams: Seams): Promise<Assembled> {
  const options = await parseOptions(given);
  const { storage, logger } = options;
  // A clock from the host takes precedence over that of the database.
  const time = options.clock === undefined ? storage.time?.bind(storage) : undefined;
  const databaseClock = time === undefined ? null : new DatabaseClock({ time, logger });
  const clock = new FollowedClock(options.clock ?? databaseClock ?? systemClock);
  const core = await coreOf(options, clock, (work) => working.tell(work));
  await openStorage(core, databaseClock);

  const engine = new Engine(core);
  const forms = createForms(core);
  const interactions = createInteractions(core, engine, forms);
  const consents = connectedApps(core);
  const webhooks = createWebhooks(core, seams.webhookClient);
  const signOuts = createSignOuts(core);
  const jobs = jobWorker(core, webhooks);
  const working = together({ jobs, deliveries: webhooks.worker }, storage.wakeUps);
  const waits = createWaitBounds(core, longestJobWaits(options));
  clock.onStepBack(waits.clockWentBack);
  const { worker, stop: stopWatching } = watchForWorker(core, waits.around(working.worker));
  const passports = createPassports(core);
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
    tokens: tokenChecks(core),
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
      try {
        await storage.close();
      } finally {
        inUse.delete(storage);
      }
    },
  };
  return { ostiary, routes, partnerRoutes: partner?.table ?? [] };
}
