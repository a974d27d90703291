import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createDoctorRoute } from '@ostiary/cli/doctor';
import { listen } from '@ostiary/web-kit';
import type { Logger } from 'pino';
import { createApp, createWorkerApp, type OperationRoutes } from './app.ts';
import type { ServerConfig } from './config.ts';
import { isApiPath, refuseApi } from './http/api-path.ts';
import { createHealthRoutes } from './http/health.ts';
import { createLogger, logRequest } from './http/logging.ts';
import { type Installation, type InstallationOptions, openInstallation } from './installation.ts';
import { startMetrics } from './metrics/metrics.ts';
import { startPresence } from './operations/nodes.ts';
import { refuseUnsafeStart } from './operations/unsafe-start.ts';
import { pageStyle } from './pages/style.ts';
import { createCsrf } from './sign-in/csrf.ts';
import { createKnownBrowsers } from './sign-in/known-browsers.ts';
import { createThrottle, type ThrottleLimits } from './sign-in/throttle.ts';

/** What tests and the demo hand in; production takes the defaults. */
export interface ServerOptions extends InstallationOptions {
  readonly logger?: Logger;
  readonly signInLimits?: Partial<ThrottleLimits>;
  /** How long requests under way may take when the server closes, in milliseconds. @defaultValue 10000 */
  readonly closeDeadlineMs?: number;
}

/** A server that listens. */
export interface ReferenceServer {
  readonly config: ServerConfig;
  readonly installation: Installation;
  readonly port: number;
  /**
   * Says that it is not ready any more, lets the load balancer notice, accepts nothing new, lets requests under way finish
   * until the deadline and the worker what it holds, then closes the database. Repeatable.
   */
  close(): Promise<void>;
}

/** Answers what the role of this process is about. */
function listenerOf(
  { config, installation }: Pick<ReferenceServer, 'config' | 'installation'>,
  logger: Logger,
  limits: ServerOptions['signInLimits'],
  operation: OperationRoutes,
): RequestListener {
  const { authUrl, role } = config;
  const look = { name: config.name, style: pageStyle(config.colour) };
  if (role === 'worker') {
    const app = createWorkerApp({ authUrl, look }, operation, logger).callback();
    return (request, response) =>
      isApiPath(request.url ?? '/') ? refuseApi(request, response) : void app(request, response);
  }
  const { ostiary, database, accounts, sessions, cookies, now, deriveKeys } = installation;
  const context = {
    authUrl,
    look,
    colour: config.colour,
    accounts,
    sessions,
    cookies,
    csrf: createCsrf(deriveKeys('csrf')),
    browsers: createKnownBrowsers(deriveKeys('known browsers'), now),
    throttle: createThrottle(database, deriveKeys('throttle'), now, limits),
    addressOf: ostiary.clientAddress,
  };
  const app = createApp(context, ostiary, operation, logger).callback();
  return (request, response) => {
    // What the API does not have is answered by the API, and not with a page.
    const next = isApiPath(request.url ?? '/') ? undefined : () => void app(request, response);
    ostiary.handler(request, response, next);
  };
}

function oncePerMinute(now: () => number, tell: () => void): () => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - toldAt < 60_000) return;
    toldAt = now();
    tell();
  };
}

/**
 * Starts the reference server.
 *
 * @throws AddressError when the port is taken, ConfigError when the database cannot be used
 */
export async function startReferenceServer(
  config: ServerConfig,
  options: ServerOptions = {},
): Promise<ReferenceServer> {
  const logger = options.logger ?? createLogger(config.logLevel);
  const metrics = config.metrics === null ? null : await startMetrics(config.metrics, config.role);
  let installation: Installation;
  try {
    installation = await openInstallation(config, logger, options);
    await refuseUnsafeStart(config, installation.database).catch(async (error: unknown) => {
      await installation.close();
      throw error;
    });
  } catch (error) {
    await metrics?.close();
    throw error;
  }
  const { ostiary, database, now } = installation;
  metrics?.watch(database, now);
  const presence = await startPresence(config, database, now, logger);
  let closing: Promise<void> | undefined;
  const health = createHealthRoutes(
    () => Promise.all([database.ping(), ostiary.ready()]),
    () => closing !== undefined,
  );
  const doctor = createDoctorRoute({
    sealingKeys: config.sealingKeys,
    addressOf: ostiary.clientAddress,
    node: presence.id,
    now,
  });
  const answer = listenerOf({ config, installation }, logger, options.signInLimits, { health, doctor });

  async function closeDatabase(): Promise<void> {
    await metrics?.close();
    await presence.end();
    await installation.close();
  }

  const { maxConnections } = config;
  const onRefused = oncePerMinute(now, () =>
    logger.warn({ maxConnections }, 'too many connections; what comes now is closed unanswered'),
  );

  const listener: RequestListener = (request, response) => {
    logRequest(logger, request, response);
    answer(request, response);
  };
  const http = await listen(config, listener, { maxConnections, onRefused }).catch(async (error: unknown) => {
    await closeDatabase();
    throw error;
  });
  const { port } = http;
  const { host, role, authUrl, baseUrl } = config;
  if (role !== 'web') ostiary.worker.start();
  logger.info({ host, port, role, authUrl, baseUrl }, 'listening');

  async function drain(): Promise<void> {
    await delay(config.drainSeconds * 1_000);
    await http.close(options.closeDeadlineMs ?? 10_000);
  }

  async function close(): Promise<void> {
    logger.info('closing');
    await Promise.all([drain(), ostiary.worker.stop()]);
    await closeDatabase();
    logger.info('closed');
  }

  return {
    config,
    installation,
    port,
    close() {
      closing ??= close();
      return closing;
    },
  };
}
