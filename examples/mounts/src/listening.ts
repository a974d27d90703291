import { once } from 'node:events';
import type { Server } from 'node:http';

/** Accepts no new requests, lets running ones finish, and resolves when the last response is sent. */
export type Stop = () => Promise<void>;

/**
 * Resolves once the server listens, with a function that stops the server; rejects if the server cannot
 * listen.
 */
export async function listening(server: Server): Promise<Stop> {
  if (!server.listening) await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await closed;
  };
}
