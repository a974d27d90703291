import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ConfigError } from '../config.ts';

/** An HTTP server that accepts connections. */
export interface HttpServer {
  readonly port: number;
  /** Accepts nothing new and lets requests under way finish, for at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

const reasons: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_, port) => `port ${port} is taken; set PORT to a free one, or stop the other program`,
  EACCES: (_, port) => `port ${port} needs more rights; set PORT to 1024 or above`,
  EADDRNOTAVAIL: (host) => `HOST ${host} is no address of this machine`,
  ENOTFOUND: (host) => `HOST ${host} is no address of this machine`,
};

/**
 * Listens, with limits on how long a request may take to arrive.
 *
 * @throws {@link ConfigError} when the address cannot be had
 */
export async function listen(
  { host, port }: { readonly host: string; readonly port: number },
  listener: RequestListener,
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
      reject(reason === undefined ? error : new ConfigError(reason(host, port)));
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
