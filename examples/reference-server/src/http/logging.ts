import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Number of bytes of log lines that wait for room on the disk; later lines are dropped. */
const maxWaiting = 1024 * 1024;

/**
 * Opens standard output for log lines. Lines that cannot be written, on a full disk or into a pipe that nothing reads, are lost, and the
 * server goes on: payments are worth more than their lines. pino itself only survives the pipe.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ sync: true, maxLength: maxWaiting });
  output.on('error', () => undefined);
  return output;
}

/** Creates a logger that writes one JSON object a line. Of an error it shows only what cannot contain a request. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
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
 * Gives the request an id and writes one line at its end: method, route, status, duration and id, and no
 * other part of the request.
 */
export function logRequest(
  logger: Logger,
  routeOf: (target: string) => string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const start = performance.now();
  const ownId = randomUUID();
  // Ostiary puts its own id into its responses. The line shows the id that the client saw.
  response.setHeader('X-Request-Id', ownId);
  response.once('close', () => {
    const route = routeOf(request.url ?? '');
    const fields = {
      method: request.method,
      route,
      status: response.statusCode,
      durationMs: Math.round((performance.now() - start) * 10) / 10,
      requestId: String(response.getHeader('x-request-id') ?? ownId),
      ...(!response.writableFinished && { aborted: true }),
    };
    if (response.statusCode >= 500) logger.error(fields, 'request');
    else if (route === '/healthz' || route === '/readyz') logger.debug(fields, 'request');
    else logger.info(fields, 'request');
  });
}
