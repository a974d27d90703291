import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createDoctorRoute } from '@ostiary/cli/doctor';
import { listen } from '@ostiary/web-kit';
import type { Logger } from 'pino';
import { createApp, type OperationRoutes } from './app.ts';
import type { ServerConfig } from './config.ts';
import { isApiPath, refuseApi } from './http/api-path.ts';
import { createHealthRoutes } from './http/health.ts';
import { createLogger, logRequest } from './http/logging.ts';
import { routeNames } from './http/route-name.ts';
import { type Installation, type InstallationOptions, openInstallation } from './installation.ts';
import { startMetrics } from './metrics/metrics.ts';
import { startPresence } from './operations/nodes.ts';
import { refuseUnsafeStart } from './operations/unsafe-start.ts';
import { createContext, type SignInContext } from './sign-in/context.ts';
import type { ThrottleLimits } from './sign-in/throttle.ts';

/** Dependencies that tests and the demo replace. Production uses the defaults. */
export interface ServerOptions extends InstallationOptions {
  readonly logger?: Logger;
  readonly signInLimits?: Partial<ThrottleLimits>;
  /** Time for requests under way when the server closes, in milliseconds. @defaultValue 10000 */
  readonly closeDeadlineMs?: number;
  /** Its name among the processes of one machine, whose primary process answers `/metrics` for all of them. */
  readonly place?: string | undefined;
}

/** A server that listens. */
export type ReferenceServer = Awaited<ReturnType<typeof startReferenceServer>>;

/** Answers what the role of this process is about. */
function listenerOf(
  { role }: ServerConfig,
  { ostiary }: Installation,
  context: SignInContext,
  operation: OperationRoutes,
  logger: Logger,
): RequestListener {
  const app = createApp(context, operation, logger, role).callback();
  return (request, response) => {
    const isApi = isApiPath(request.url ?? '/');
    if (role !== 'worker') {
      // Let the API respond to unknown paths of the API, not a page.
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
 * Starts the reference server.
 *
 * @throws AddressError when the port is taken, ConfigError when the database cannot be used
 */
export async function startReferenceServer(config: ServerConfig, options: ServerOptions = {}) {
  const { place } = options;
  const base = options.logger ?? createLogger(config.logLevel);
  const logger = place === undefined ? base : base.child({ process: place });
  const address = place === undefined ? config.metrics : null;
  // If something fails, close everything that was opened, the last first.
  await using opened = new AsyncDisposableStack();
  const metrics = config.metrics && (await startMetrics(address, config.role));
  opened.defer(async () => metrics?.close());
  const installation = opened.adopt(await openInstallation(config, logger, options), (it) => it.close());
  const { ostiary, database, now } = installation;
  await refuseUnsafeStart(config, database);
  metrics?.watch(database, now);
  const presence = opened.adopt(await startPresence(config, database, now, logger), (it) => it.end());
  let closing: Promise<void> | undefined;
  let isReplaced = false;
  const health = createHealthRoutes(
    () => Promise.all([database.ping(), ostiary.ready()]),
    () => closing !== undefined && !isReplaced,
    logger,
  );
  const doctor = createDoctorRoute({
    sealingKeys: config.sealingKeys,
    addressOf: ostiary.clientAddress,
    node: presence.id,
    now,
  });
  const context = createContext(config, installation, options.signInLimits);
  const answer = listenerOf(config, installation, context, { health, doctor }, logger);

  const { maxConnections } = config;
  const onRefused = oncePerMinute(now, () =>
    logger.warn({ maxConnections }, 'too many connections; what comes now is closed unanswered'),
  );

  const routeOf = routeNames(ostiary.routes);
  const listener: RequestListener = (request, response) => {
    logRequest(logger, routeOf, request, response);
    answer(request, response);
  };
  const { host, socket, role, authUrl, baseUrl } = config;
  const http = await listen(socket ?? config, listener, {
    ...{ maxConnections, onRefused, keepAliveMs: config.keepAliveSeconds * 1_000 },
  });
  const running = opened.move();
  const { port } = http;
  if (role !== 'web') ostiary.worker.start();
  if (socket !== null && !config.trustedProxies.includes('unix')) {
    logger.warn(
      { socket: socket.path },
      'requests on a Unix socket have no address: add unix to OSTIARY_TRUSTED_PROXIES, or allowlists refuse every caller and all callers share one rate limit',
    );
  }
  const where = socket === null ? { host, port } : { socket: socket.path };
  logger.info({ ...where, role, authUrl, baseUrl }, 'listening');

  async function close(): Promise<void> {
    logger.info('closing');
    ostiary.endStreams();
    const drained = delay(isReplaced ? 0 : config.drainSeconds * 1_000).then(() =>
      http.close(options.closeDeadlineMs ?? 10_000, { keepsIdle: isReplaced }),
    );
    await Promise.all([drained, ostiary.worker.stop()]);
    await running.disposeAsync();
    logger.info('closed');
  }

  return {
    config,
    installation,
    port,
    /**
     * Says that it is not ready any more, lets the load balancer notice, accepts nothing new, lets requests under way finish
     * until the deadline and attempts of webhooks within eleven seconds, then closes the database. Repeatable.
     * @param order - `replaced`: another process listens at the same address, so nobody has to look elsewhere
     */
    close({ replaced }: { readonly replaced: boolean } = { replaced: false }): Promise<void> {
      if (closing === undefined) {
        isReplaced = replaced;
        closing = close();
      }
      return closing;
    },
    /** Metrics of this process for Prometheus. */
    metrics: async (): Promise<string> => (await metrics?.text()) ?? '',
  };
}
