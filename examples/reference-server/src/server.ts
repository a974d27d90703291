import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { ServerConfig } from './config.ts';
import { clientAddress } from './http/client-address.ts';
import { type HttpServer, listen } from './http/listen.ts';
import { createLogger, logRequest } from './http/logging.ts';
import { type Installation, type InstallationOptions, openInstallation } from './installation.ts';
import { createStyle } from './pages/style.ts';
import { createCsrf } from './sign-in/csrf.ts';
import { createThrottle, type ThrottleLimits } from './sign-in/throttle.ts';

/** What tests and the demo hand in; production takes the defaults. */
export interface ServerOptions extends InstallationOptions {
  readonly logger?: Logger;
  readonly signInLimits?: ThrottleLimits;
  /** How long requests under way may take when the server closes, in milliseconds. @defaultValue 10000 */
  readonly closeDeadlineMs?: number;
}

/** A server that listens. */
export interface ReferenceServer {
  readonly config: ServerConfig;
  readonly installation: Installation;
  readonly port: number;
  /** Accepts nothing new, lets requests under way finish until the deadline, then closes the database. Repeatable. */
  close(): Promise<void>;
}

/**
 * Starts the reference server.
 *
 * @throws {@link ConfigError} when the port is taken or the data folder cannot be used
 */
export async function startReferenceServer(
  config: ServerConfig,
  options: ServerOptions = {},
): Promise<ReferenceServer> {
  const logger = options.logger ?? createLogger(config.logLevel);
  const installation = await openInstallation(config, logger, options);
  const { ostiary, database, accounts, sessions, cookies, now, deriveKey } = installation;
  const app = createApp(
    {
      authUrl: config.authUrl,
      look: { name: config.name, style: createStyle(config.colour) },
      colour: config.colour,
      accounts,
      sessions,
      cookies,
      csrf: createCsrf(deriveKey('csrf')),
      throttle: createThrottle(database, deriveKey('throttle'), now, options.signInLimits),
      addressOf: clientAddress(config.trustedProxies),
    },
    ostiary,
    async () => {
      database.ping();
      await ostiary.ready();
    },
    logger,
  ).callback();

  let http: HttpServer;
  try {
    http = await listen(config, (request, response) => {
      logRequest(logger, request, response);
      ostiary.handler(request, response, () => void app(request, response));
    });
  } catch (error) {
    await installation.close();
    throw error;
  }
  const { port } = http;
  ostiary.worker.start();
  logger.info({ host: config.host, port, authUrl: config.authUrl, baseUrl: config.baseUrl }, 'listening');

  let closing: Promise<void> | undefined;
  return {
    config,
    installation,
    port,
    close() {
      closing ??= (async () => {
        logger.info('closing');
        await http.close(options.closeDeadlineMs ?? 10_000);
        await ostiary.worker.stop();
        await installation.close();
        logger.info('closed');
      })();
      return closing;
    },
  };
}
