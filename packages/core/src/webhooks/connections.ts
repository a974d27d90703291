import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { unmapped } from '../text/ip-address.ts';
import { InterimAnswers } from './interim-answers.ts';

/** Host of a target with its addresses, all of which were checked, and the time of their lookup. */
export interface Found {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly foundAt: number;
}

/** Opens a socket to one of the addresses. */
export type Open = (found: Found, signal: AbortSignal) => Promise<Socket>;

export interface ConnectionsOptions {
  readonly open: Open;
  readonly idleMs: number;
  readonly maxIdle: number;
  readonly now: () => number;
}

/** Maximum age of the lookup behind a connection, in milliseconds: a name that moved is noticed by then. */
const maxAgeMs = 60_000;
/** The most bytes of response headers. Policies and cookies of a receiver's framework take more than the 16 KiB of most servers. */
const maxHeaderSize = 65_536;

/** A keep-alive connection to one origin; serves one request after the other. */
export class Connection {
  readonly origin: string;
  readonly found: Found;
  readonly #client: Client;
  readonly #now: () => number;
  #dialling: AbortController | null = null;
  #socket: Socket | null = null;
  #interimAnswers: InterimAnswers | null = null;

  constructor(
    found: Found,
    { open, idleMs, now }: ConnectionsOptions,
    onClosed: (connection: Connection) => void,
  ) {
    this.origin = found.url.origin;
    this.found = found;
    this.#now = now;
    this.#client = new Client(this.origin, {
      // A server's hint may shorten the idle time and never prolongs it.
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      keepAliveTimeoutThreshold: 1_000,
      // An attempt has its own absolute deadline. These two start anew with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize,
      allowH2: false,
      connect: (_options, callback) => {
        this.#open(open).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
    });
    this.#client.on('disconnect', () => onClosed(this));
  }

  async #open(open: Open): Promise<Socket> {
    const dialling = new AbortController();
    this.#dialling = dialling;
    this.#socket = await open(this.found, dialling.signal);
    this.#interimAnswers = new InterimAnswers(this.#socket);
    return this.#socket;
  }

  /** Address of the other end. Before the connection is open, the one that is dialled first. */
  get address(): string {
    const address = this.#socket?.remoteAddress ?? this.found.addresses[0] ?? '';
    return unmapped(address) ?? address;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#interimAnswers?.awaitAnswer();
    this.#client.dispatch(options, handler);
  }

  /** True if it served a request before. */
  get isKept(): boolean {
    return this.#socket !== null;
  }

  /** True if another request may follow, because the previous one was sent and answered completely. */
  isReusable(): boolean {
    const socket = this.#socket;
    if (socket === null || socket.destroyed || this.#now() - this.found.foundAt > maxAgeMs) return false;
    // Answered before it was read: what is left of the old request would hold up the next.
    return socket.writableLength === 0;
  }

  /** Closes the connection in any state. */
  async destroy(): Promise<void> {
    this.#dialling?.abort(new Error('The connection is no longer wanted'));
    await this.#client.destroy();
  }
}

/** Keep-alive connections. Holds on to idle ones only, and to few of them. */
export class Connections {
  readonly #options: ConnectionsOptions;
  /** Longest idle first. */
  readonly #idle: Connection[] = [];

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Takes a kept connection for one request, to be given back or destroyed; `null` if none is kept. */
  take(target: URL): Connection | null {
    const wanted = target.origin;
    for (;;) {
      const place = this.#idle.findLastIndex(({ origin }) => origin === wanted);
      const [last] = place === -1 ? [] : this.#idle.splice(place, 1);
      if (last === undefined) return null;
      if (last.isReusable()) return last;
      void last.destroy();
    }
  }

  /** Makes a new connection for one request, to be given back or destroyed. */
  open(found: Found): Connection {
    return new Connection(found, this.#options, (connection) => this.#closed(connection));
  }

  /** Keeps a connection for the next request. */
  giveBack(connection: Connection): void {
    if (!connection.isReusable()) return void connection.destroy();
    this.#idle.push(connection);
    if (this.#idle.length > this.#options.maxIdle) void this.#idle.shift()?.destroy();
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((connection) => connection.destroy()));
  }

  /** A connection in use opens another socket by itself when its request was not sent yet, and checks its peer anew. */
  #closed(connection: Connection): void {
    const place = this.#idle.indexOf(connection);
    if (place !== -1) void this.#idle.splice(place, 1)[0]?.destroy();
  }
}
