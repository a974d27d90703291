/**
 * Health check of the container image: ends with 0 if the server that has this environment answers `/healthz`. Reads no setting but
 * where to connect, because it runs every few seconds.
 */
import { get } from 'node:http';

const { HOST, PORT, OSTIARY_SOCKET = '' } = process.env;
const address = OSTIARY_SOCKET === '' ? { host: HOST, port: PORT } : { socketPath: OSTIARY_SOCKET };

get({ ...address, path: '/healthz' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).once(
  'error',
  () => process.exit(1),
);
