import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ConfigError } from '../config.ts';

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** An HTTP server that accepts connections. */
export interface HttpServer {
  readonly port: number;
  /** Accepts nothing new and lets requests under way finish, for at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** What an address was set with. */
interface Variables {
  readonly host: string;
  readonly port: string;
}

const noAddress = ({ host }: Address, of: Variables): string =>
  `${of.host} ${host} is no address of this machine`;

const reasons: Readonly<Record<string, (address: Address, of: Variables) => string>> = {
  EADDRINUSE: ({ port }, of) =>
    `port ${port} is taken; set ${of.port} to a free one, or stop the other program`,
  EACCES: ({ port }, of) => `port ${port} needs more rights; set ${of.port} to 1024 or above`,
  EADDRNOTAVAIL: noAddress,
  ENOTFOUND: noAddress,
};

/**
 * Listens, with limits on how long a request may take to arrive.
 *
 * @throws {@link ConfigError} when the address cannot be had
 */
export async function listen(
  { host, port }: Address,
  listener: RequestListener,
  variables: Variables = { host: 'HOST', port: 'PORT' },
): Promise<HttpServer> {
  // Connections and the answers that are under way on them. Browsers open connections ahead of need; Node does not call
  // those idle, and would wait for them when it closes.
  const connections = new Map<Socket, Set<ServerResponse>>();
  let closing = false;

  const server = createServer(
    { requestTimeout: 15_000, headersTimeout: 10_000, keepAliveTimeout: 5_000 },
    (request, response) => {
      const { socket } = request;
      const underWay = connections.get(socket);
      underWay?.add(response);
      response.once('close', () => {
        underWay?.delete(response);
        if (closing && underWay?.size === 0) socket.end();
      });
      if (closing) response.setHeader('Connection', 'close');
      listener(request, response);
    },
  );
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = reasons[error.code ?? ''];
      reject(reason === undefined ? error : new ConfigError(reason({ host, port }, variables)));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();

  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: (deadlineMs) =>
      new Promise((resolve) => {
        closing = true;
        const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
        server.close(() => {
          clearTimeout(deadline);
          resolve();
        });
        for (const [socket, underWay] of connections) {
          if (underWay.size === 0) socket.destroy();
          for (const response of underWay)
            if (!response.headersSent) response.setHeader('Connection', 'close');
        }
      }),
  };
}
