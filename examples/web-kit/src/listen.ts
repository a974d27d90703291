import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type Server, type Socket, Server as TcpServer } from 'node:net';
import { openSocketFile, removeStaleSocket, type SocketAddress, socketReasons } from './unix-socket.ts';

/** Error for an address on which the server cannot listen. The message is one line, for the operator. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

/** Address on which a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** An HTTP server that accepts connections. */
export interface HttpServer {
  /** Port on which the server listens; 0 on a Unix socket. */
  readonly port: number;
  /**
   * Begins to empty the connections, while a load balancer learns that this server is stopping: accepts
   * requests and connections, and ends each connection after its next response.
   */
  drain(): void;
  /**
   * Stops accepting connections, and lets running requests finish within `deadlineMs`. Longer responses are
   * broken off.
   * @param options - `keepsIdle`: idle connections may send one more request, or end by themselves; for a
   * server whose clients find another one at the same address
   */
  close(deadlineMs: number, options?: { readonly keepsIdle?: boolean }): Promise<void>;
}

/** Names of the environment variables that set the server's address, for messages. */
interface Variables {
  readonly host: string;
  readonly port: string;
  readonly socket?: string;
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

/** Resolves once the server listens at the address; rejects with the operating system's error. */
function listening(server: Server, address: Address | SocketAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const onListening = () => {
      server.removeListener('error', reject);
      resolve();
    };
    if ('path' in address) server.listen(address.path, onListening);
    else server.listen(address.port, address.host, onListening);
  });
}

/** Listens on a Unix socket. Replaces the socket file of a process that no longer runs. */
async function listenOnSocket(server: Server, address: SocketAddress): Promise<void> {
  try {
    await listening(server, address);
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE' || !(await removeStaleSocket(address.path))) throw error;
    await listening(server, address);
  }
  await openSocketFile(address);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Explains to the operator why the server cannot listen; `undefined` if the address is not the reason. */
function reasonOf(error: unknown, address: Address | SocketAddress, variables: Variables) {
  const code = codeOf(error);
  if ('path' in address) return socketReasons[code]?.(address.path, variables.socket ?? 'the socket');
  return reasons[code]?.(address, variables);
}

/**
 * Limits for requests and connections. A request must arrive within 15 s, including the interval of the
 * checks. An idle connection stays open for longer than proxies keep it (nginx and AWS load balancers: 60 s),
 * so that no proxy sends a request on a closing connection.
 */
export const patience = {
  /**
   * Maximum time to the end of a request's headers, in milliseconds. It begins with the connection, and begins
   * anew with the first byte of each request.
   */
  headersMs: 9_000,
  /** Time to the end of a request's body, in milliseconds. */
  requestMs: 14_000,
  /**
   * Time without data after a response before the connection is closed, in milliseconds. Node announces it as
   * `Keep-Alive: timeout=75`.
   */
  keepAliveMs: 75_000,
  /** Interval at which Node checks for requests that took too long, in milliseconds. */
  checkMs: 1_000,
  /** Maximum number of open connections. Further connections are closed at once, without a response. */
  maxConnections: 5_000,
};

/** Settings in which a server differs from the public server. */
export interface ListenOptions extends Readonly<Partial<typeof patience>> {
  readonly variables?: Variables;
  /** Called when a connection is refused because there are too many. */
  readonly onRefused?: () => void;
}

/** Time that a closing server gives idle connections for one more request, in milliseconds. */
const lastRequestMs = 5_000;

/** Limits for the rest of a request that cannot be parsed, which is read and discarded. */
const malformed = {
  /** Time without further data after which the connection is closed, in milliseconds. */
  silenceMs: 500,
  /** Time after which the connection is closed at the latest, in milliseconds. */
  deadlineMs: 10_000,
};

/** Statuses for requests that Node's parser refuses, by the code of its error. Any other error is a 400. */
const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * State of a connection: its running responses, and the time at which it is closed unless a request arrives.
 */
interface Connection {
  readonly underWay: Set<ServerResponse>;
  deadline?: NodeJS.Timeout;
  /** Timer of a connection whose request cannot be parsed: each further chunk is an error, too. */
  silence?: NodeJS.Timeout;
}

/**
 * Breaks a connection with a running response. A reset is an error for every reader; if the connection were
 * closed, a response without chunks (which nginx requests by default) would look complete. A Unix socket has
 * no reset.
 */
function breakOff(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}

function clearTimers({ deadline, silence }: Connection): void {
  clearTimeout(deadline);
  clearTimeout(silence);
}

/**
 * Refuses a request that Node's parser cannot read, and then reads and discards what follows. Closing a
 * connection on which a proxy still writes would reset it: the response would be lost, and nginx would take
 * the server out of service for everyone (RFC 9112, section 9.6).
 */
function refuseMalformed(error: Error, socket: Socket, connection: Connection | undefined): void {
  if (connection === undefined) return void socket.destroy();
  const { silence, underWay } = connection;
  if (silence !== undefined) return void silence.refresh();
  const code = codeOf(error);
  const isBegun = [...underWay].some(({ headersSent }) => headersSent);
  if (!socket.writable || isBegun || code === 'ECONNRESET') return void socket.destroy();
  socket.end(`HTTP/1.1 ${refusals[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return void socket.destroySoon();
  connection.silence = setTimeout(() => socket.destroy(), malformed.silenceMs).unref();
  clearTimeout(connection.deadline);
  connection.deadline = setTimeout(() => socket.destroy(), malformed.deadlineMs).unref();
}

/**
 * Listens with limits on the time that a request may take to arrive, and on the number of connections.
 *
 * @throws {@link AddressError} if the server cannot listen at the address
 */
export async function listen(
  at: Address | SocketAddress,
  listener: RequestListener,
  {
    variables = { host: 'HOST', port: 'PORT', socket: 'OSTIARY_SOCKET' },
    onRefused = () => undefined,
    ...limits
  }: ListenOptions = {},
): Promise<HttpServer> {
  const { headersMs, requestMs, keepAliveMs, checkMs, maxConnections } = { ...patience, ...limits };
  // Connections that browsers open ahead of need are tracked here, because Node does not count them as idle,
  // and would wait for them when it closes.
  const connections = new Map<Socket, Connection>();
  let closing = false;
  let endsIdle = false;

  /**
   * Closes the connection unless a request arrives in time. Node limits the time of a request from its first
   * byte only, and would wait for ever on a connection that sends nothing but empty lines.
   */
  function expectRequest(socket: Socket, connection: Connection, withinMs: number): void {
    clearTimeout(connection.deadline);
    connection.deadline = setTimeout(() => socket.destroy(), withinMs).unref();
  }

  /** Announces on running and later responses that their connection ends with them. */
  function endAfterResponses(): void {
    closing = true;
    for (const { underWay } of connections.values()) {
      for (const response of underWay) if (!response.headersSent) response.setHeader('Connection', 'close');
    }
  }

  const server = createServer(
    {
      requestTimeout: requestMs,
      headersTimeout: headersMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: checkMs,
    },
    (request, response) => {
      const { socket } = request;
      const connection = connections.get(socket) ?? { underWay: new Set() };
      clearTimeout(connection.deadline);
      connection.underWay.add(response);
      response.once('close', () => {
        connection.underWay.delete(response);
        if (connection.underWay.size > 0) return;
        if (endsIdle) socket.end();
        else if (!socket.destroyed) expectRequest(socket, connection, keepAliveMs + headersMs);
      });
      if (closing) response.setHeader('Connection', 'close');
      listener(request, response);
    },
  );
  server.on('connection', (socket: Socket) => {
    // Count here instead of using `server.maxConnections`: processes of a cluster would pass such a
    // connection around among them.
    if (connections.size >= maxConnections) {
      socket.destroy();
      onRefused();
      return;
    }
    const connection: Connection = { underWay: new Set() };
    connections.set(socket, connection);
    expectRequest(socket, connection, requestMs);
    socket.once('close', () => {
      clearTimers(connection);
      connections.delete(socket);
    });
  });
  server.on('clientError', (error, socket: Socket) =>
    refuseMalformed(error, socket, connections.get(socket)),
  );

  try {
    await ('path' in at ? listenOnSocket(server, at) : listening(server, at));
  } catch (error) {
    const reason = reasonOf(error, at, variables);
    throw reason === undefined ? error : new AddressError(reason);
  }
  const address = server.address();

  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    drain: endAfterResponses,
    close: (deadlineMs, { keepsIdle = false } = {}) =>
      new Promise((resolve) => {
        endAfterResponses();
        endsIdle = !keepsIdle;
        const deadline = setTimeout(() => {
          for (const [socket, { underWay }] of connections) if (underWay.size > 0) breakOff(socket);
          server.closeAllConnections();
        }, deadlineMs);
        const onClose = () => {
          clearTimeout(deadline);
          resolve();
        };
        // The TCP server's method keeps idle connections open. The HTTP server's would end them, although a
        // request may be on its way.
        if (keepsIdle) TcpServer.prototype.close.call(server, onClose);
        else server.close(onClose);
        for (const [socket, connection] of connections) {
          const { underWay } = connection;
          if (underWay.size === 0 && endsIdle) socket.destroy();
          else if (underWay.size === 0) expectRequest(socket, connection, lastRequestMs);
        }
      }),
  };
}
