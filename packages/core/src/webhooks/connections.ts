import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { unmapped } from '../text/ip-address.ts';
import { InterimAnswers } from './interim-answers.ts';

/**
 * Host of a webhook target with its IP addresses, all of which were checked, and the time of the DNS lookup.
 */
export interface Found {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly foundAt: number;
}

/** Opens a socket to one of the checked IP addresses of a webhook target. */
export type Open = (found: Found, signal: AbortSignal) => Promise<Socket>;

export interface ConnectionsOptions {
  readonly open: Open;
  readonly idleMs: number;
  readonly maxIdle: number;
  readonly now: () => number;
}

/**
 * Maximum age of the DNS lookup behind a kept connection, in milliseconds, so that a changed address is
 * noticed by then.
 */
const maxAgeMs = 60_000;
/**
 * Maximum size of response headers, in bytes; larger ones fail the attempt as `protocol`. Policies and cookies
 * of web frameworks take more than the 16 KiB that most servers allow.
 */
const maxHeaderSize = 65_536;

/** A keep-alive connection to one origin, used for one request at a time. */
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
      // The server's `Keep-Alive` hint may shorten the idle time but not prolong it.
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      keepAliveTimeoutThreshold: 1_000,
      // Turn off undici's time limits, which restart with every byte: an attempt has an absolute deadline.
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

  /**
   * IP address of the connected server; before the connection is open, the address that will be tried first.
   */
  get address(): string {
    const address = this.#socket?.remoteAddress ?? this.found.addresses[0] ?? '';
    return unmapped(address) ?? address;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#interimAnswers?.awaitAnswer();
    this.#client.dispatch(options, handler);
  }

  /** True if the connection was open already, so that it may have served another request. */
  get isKept(): boolean {
    return this.#socket !== null;
  }

  /**
   * True if another request may use the connection: it is open, the previous request was sent completely, and
   * the DNS lookup is at most a minute old.
   */
  isReusable(): boolean {
    const socket = this.#socket;
    if (socket === null || socket.destroyed || this.#now() - this.found.foundAt > maxAgeMs) return false;
    // If the endpoint responded before it read everything, the rest of the old request would block the next.
    return socket.writableLength === 0;
  }

  /** Closes the connection in any state. */
  async destroy(): Promise<void> {
    this.#dialling?.abort(new Error('The connection is no longer wanted'));
    await this.#client.destroy();
  }
}

/** Pool of keep-alive connections. Holds only idle ones, up to a limit. */
export class Connections {
  readonly #options: ConnectionsOptions;
  /** Idle connections, the one that has been idle for the longest time first. */
  readonly #idle: Connection[] = [];

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Takes an idle connection out of the pool for one request; `null` if there is none. The caller must return
   * or destroy it.
   */
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

  /** Creates a connection for one request. The caller must return or destroy it. */
  open(found: Found): Connection {
    return new Connection(found, this.#options, (connection) => this.#closed(connection));
  }

  /** Returns a connection to the pool for the next request, or destroys it if it cannot be used again. */
  giveBack(connection: Connection): void {
    if (!connection.isReusable()) return void connection.destroy();
    this.#idle.push(connection);
    if (this.#idle.length > this.#options.maxIdle) void this.#idle.shift()?.destroy();
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((connection) => connection.destroy()));
  }

  /**
   * Drops a closed connection from the pool. A connection in use connects again by itself if its request was
   * not sent yet, and checks the server's address again.
   */
  #closed(connection: Connection): void {
    const place = this.#idle.indexOf(connection);
    if (place !== -1) void this.#idle.splice(place, 1)[0]?.destroy();
  }
}
