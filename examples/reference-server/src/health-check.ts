/**
 * Health check of the container image: exits with 0 if the server with this environment responds to
 * `/healthz` with 200 in time, and else with 1. Reads only the settings for connecting, because the health check runs
 * every few seconds.
 */
import { get } from 'node:http';

/** Time limit for the response, in milliseconds. Shorter than the timeout of `HEALTHCHECK` in the Dockerfile. */
const timeoutMs = 2_500;

const { HOST, PORT, OSTIARY_SOCKET = '' } = process.env;
const address = OSTIARY_SOCKET === '' ? { host: HOST, port: PORT } : { socketPath: OSTIARY_SOCKET };

setTimeout(() => process.exit(1), timeoutMs);
get({ ...address, path: '/healthz' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).once(
  'error',
  () => process.exit(1),
);
