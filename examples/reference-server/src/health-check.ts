/**
 * Health check of the container image: exits with 0 if the server with this environment responds to
 * `/healthz`. Reads only the settings for connecting, because it runs every few seconds.
 */
import { get } from 'node:http';

const { HOST, PORT, OSTIARY_SOCKET = '' } = process.env;
const address = OSTIARY_SOCKET === '' ? { host: HOST, port: PORT } : { socketPath: OSTIARY_SOCKET };

get({ ...address, path: '/healthz' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).once(
  'error',
  () => process.exit(1),
);
