import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createDoctorRoute } from '@ostiary/cli/doctor';
import { type CountingLogger, countRepetitions } from '@ostiary/core';
import { listen } from '@ostiary/web-kit';
import type { Logger } from 'pino';
import { createApp, type OperationRoutes } from './app.ts';
import type { ServerConfig } from './config.ts';
import { isApiPath, refuseApi } from './http/api-path.ts';
import { createHealthRoutes } from './http/health.ts';
import { createLogger, logRequest } from './http/logging.ts';
import { routeNames } from './http/route-name.ts';
import { type Installation, type InstallationOptions, openInstallation } from './installation.ts';
import type { Metrics } from './metrics/metrics.ts';
import { startPresence } from './operations/nodes.ts';
import { refuseUnsafeStart } from './operations/unsafe-start.ts';
import { createContext, type SignInContext } from './sign-in/context.ts';
import type { ThrottleLimits } from './sign-in/throttle.ts';
import type { StaffContext } from './staff/context.ts';

/** Options that tests and the demo replace. Production uses the defaults, except for `place`. */
export interface ServerOptions extends InstallationOptions {
  readonly logger?: Logger;
  readonly signInLimits?: Partial<ThrottleLimits>;
  /**
   * Time for which running requests may continue when the server closes, in milliseconds. @defaultValue 10000
   */
  readonly closeDeadlineMs?: number;
  /**
   * Name of this process among those of one machine, whose primary process serves `/metrics` for all of them.
   */
  readonly place?: string | undefined;
}

/** A running reference server. */
export type ReferenceServer = Awaited<ReturnType<typeof startReferenceServer>>;

/** Makes the request handler for the role of this process (web, worker or both). */
function listenerOf(
  { role }: ServerConfig,
  { ostiary }: Installation,
  context: SignInContext,
  staff: StaffContext | null,
  operation: OperationRoutes,
  logger: CountingLogger,
): RequestListener {
  const app = createApp(context, staff, operation, logger, role).callback();
  return (request, response) => {
    const isApi = isApiPath(request.url ?? '/');
    if (role !== 'worker') {
      // Unknown paths of the API get Ostiary's response in JSON, not a page.
      ostiary.handler(request, response, isApi ? undefined : () => void app(request, response));
    } else if (isApi) refuseApi(request, response);
    else void app(request, response);
  };
}

function oncePerMinute(now: () => number, tell: () => void): () => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (Math.abs(now() - toldAt) < 60_000) return;
    toldAt = now();
    tell();
  };
}

/**
 * Starts metrics and traces, and loads their modules, if they are configured.
 * @param place - name of this process if the primary process serves its metrics
 * @returns the metrics; `null` for none
 */
async function startTelemetry(
  opened: AsyncDisposableStack,
  { metrics: address, traces, role }: ServerConfig,
  place: string | undefined,
  logger: CountingLogger,
) {
  let metrics: Metrics | null = null;
  if (address !== null) {
    const { startMetrics } = await import('./metrics/metrics.ts');
    metrics = opened.adopt(await startMetrics(place === undefined ? address : null, role), (it) =>
      it.close(),
    );
  }
  if (traces !== null) {
    const { startTraces } = await import('./traces/traces.ts');
    opened.adopt(startTraces(traces, role, logger), (started) => started.close());
  }
  return metrics;
}

/** Warns about a Unix socket that is no trusted proxy. */
function warnAboutSocket({ socket, trustedProxies }: ServerConfig, logger: Logger): void {
  if (socket === null || trustedProxies.includes('unix')) return;
  logger.warn(
    { socket: socket.path },
    'requests on a Unix socket have no address: add unix to OSTIARY_TRUSTED_PROXIES, or allowlists refuse every caller and all callers share one rate limit',
  );
}

/**
 * Starts the reference server.
 *
 * @throws AddressError if the server cannot listen at its address or at that of the metrics
 * @throws ConfigError if the database cannot be used, or if it or a sealing key is unsafe in production
 */
export async function startReferenceServer(config: ServerConfig, options: ServerOptions = {}) {
  const { place } = options;
  const base = options.logger ?? createLogger(config.logLevel);
  const logger = place === undefined ? base : base.child({ process: place });
  // An outage repeats lines about requests, probes and this process's registration.
  const counting = countRepetitions({ logger });
  // If something fails, close everything that was opened, in reverse order.
  await using opened = new AsyncDisposableStack();
  const metrics = await startTelemetry(opened, config, place, counting);
  const installation = opened.adopt(await openInstallation(config, logger, options), (it) => it.close());
  const { ostiary, database, now } = installation;
  await refuseUnsafeStart(config, database);
  metrics?.watch(database, now);
  const presence = opened.adopt(await startPresence(config, database, now, counting), (it) => it.end());
  let closing: Promise<void> | undefined;
  let isReplaced = false;
  const health = createHealthRoutes(
    () => Promise.all([database.ping(), ostiary.ready()]),
    () => closing !== undefined && !isReplaced,
    counting,
  );
  const doctor = createDoctorRoute({
    sealingKeys: config.sealingKeys,
    addressOf: ostiary.clientAddress,
    node: presence.id,
    now,
  });
  const context = createContext(config, installation, options.signInLimits);
  let staff: StaffContext | null = null;
  if (config.operators === 'accounts') {
    // The library for passkeys has 250 modules, so only servers with such accounts load it.
    const { createStaffContext } = await import('./staff/context.ts');
    staff = createStaffContext(config, installation, context, logger, options.signInLimits);
  }
  const answer = listenerOf(config, installation, context, staff, { health, doctor }, counting);

  const { maxConnections } = config;
  const onRefused = oncePerMinute(now, () =>
    logger.warn({ maxConnections }, 'too many connections; what comes now is closed unanswered'),
  );

  const routeOf = routeNames(ostiary.routes);
  const listener: RequestListener = (request, response) => {
    logRequest(counting, routeOf, request, response);
    answer(request, response);
  };
  const { host, socket, role, authUrl, baseUrl } = config;
  const http = await listen(socket ?? config, listener, {
    ...{ maxConnections, onRefused, keepAliveMs: config.keepAliveSeconds * 1_000 },
  });
  const running = opened.move();
  const { port } = http;
  if (role !== 'web') {
    ostiary.worker.start();
    void installation.mailer?.check();
  }
  warnAboutSocket(config, logger);
  const where = socket === null ? { host, port } : { socket: socket.path };
  logger.info({ ...where, role, authUrl, baseUrl }, 'listening');

  async function close(): Promise<void> {
    logger.info('closing');
    ostiary.endStreams();
    const drainMs = isReplaced ? 0 : config.drainSeconds * 1_000;
    if (drainMs > 0) http.drain();
    // Behind a proxy, the next request may be on its way on a connection that seems idle.
    const keepsIdle = isReplaced || drainMs > 0;
    const drained = delay(drainMs).then(() => http.close(options.closeDeadlineMs ?? 10_000, { keepsIdle }));
    await Promise.all([drained, ostiary.worker.stop()]);
    await running.disposeAsync();
    counting.close();
    logger.info('closed');
  }

  return {
    config,
    installation,
    port,
    /**
     * Stops the server. `/readyz` responds with 503, and the load balancer gets time to notice. Then it
     * accepts no new connections, and lets running requests finish until the deadline and webhook attempts
     * within eleven seconds. Finally it closes the database. May be called again.
     * @param order - `replaced`: another process already listens at the same address, so `/readyz` stays as
     * it is, and the server does not wait for the load balancer
     */
    close({ replaced }: { readonly replaced: boolean } = { replaced: false }): Promise<void> {
      if (closing === undefined) {
        isReplaced = replaced;
        closing = close();
      }
      return closing;
    },
    /** Returns the metrics of this process for Prometheus. */
    metrics: async (): Promise<string> => (await metrics?.text()) ?? '',
  };
}
