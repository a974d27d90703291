import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '@ostiary/core';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

/** Maximum number of bytes of unwritten log lines in memory; later lines are dropped. */
const maxWaiting = 1024 * 1024;

/**
 * Opens standard output for log lines. Lines that cannot be written, to a full disk or a closed pipe, are
 * lost and the server continues, because payments matter more than their log lines. pino by itself survives
 * only the closed pipe.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ sync: true, maxLength: maxWaiting });
  output.on('error', () => undefined);
  return output;
}

/**
 * Creates a logger that writes one JSON object per line. Of an error it logs only name, message, stack and
 * cause, because other members may contain request data.
 */
export function createLogger(level: string, destination?: DestinationStream): PinoLogger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: {
        err: (error: unknown) =>
          error instanceof Error
            ? { name: error.name, message: error.message, stack: error.stack, cause: causeOf(error) }
            : { message: 'something that is no error was thrown' },
      },
    },
    destination ?? standardOutput(),
  );
}

function causeOf({ cause }: Error): string | undefined {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
}

/**
 * Gives a request an id, and logs one line at its end: method, route, status, duration and id, but no other
 * part of the request.
 */
export function logRequest(
  logger: Logger,
  routeOf: (target: string) => string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const start = performance.now();
  const generatedId = randomUUID();
  // Ostiary sets its own id in its responses. Log the id that the client received.
  response.setHeader('X-Request-Id', generatedId);
  response.once('close', () => {
    const route = routeOf(request.url ?? '');
    const fields = {
      method: request.method,
      route,
      status: response.statusCode,
      durationMs: Math.round((performance.now() - start) * 10) / 10,
      requestId: String(response.getHeader('x-request-id') ?? generatedId),
      ...(!response.writableFinished && { aborted: true }),
    };
    if (response.statusCode >= 500) logger.error(fields, 'request');
    else if (route === '/healthz' || route === '/readyz') logger.debug(fields, 'request');
    else logger.info(fields, 'request');
  });
}
