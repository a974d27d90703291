import { once } from 'node:events';
import type { Server } from 'node:http';

/** Takes no new request, lets those under way finish, and resolves when the last one is answered. */
export type Stop = () => Promise<void>;

/** Resolves when a server listens; rejects when it cannot. */
export async function listening(server: Server): Promise<Stop> {
  if (!server.listening) await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await closed;
  };
}
