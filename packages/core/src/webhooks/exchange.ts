import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { type AttemptAnswer, failedAnswer, maxKeptBody } from './attempt-answer.ts';
import { type AttemptErrorClass, errorClassOf } from './attempt-errors.ts';
import type { Connection, Connections } from './connections.ts';
import type { Place } from './target-limits.ts';

/** State that all requests of the webhook client share. */
export interface ExchangeOptions {
  readonly connections: Connections;
  /** Webhook requests that are running. */
  readonly underWay: Set<Exchange>;
  readonly timeoutMs: number;
  readonly now: () => number;
}

export interface ExchangeRequest {
  readonly request: Dispatcher.DispatchOptions;
  readonly connection: Connection;
  /** Place that the request occupies among the concurrent requests to the IP address. */
  readonly place: Place;
  /** Duration of the DNS lookup of the target's host name, in milliseconds. */
  readonly lookupMs: number;
}

/**
 * Time for which the rest of a response body may prolong an attempt whose status is already known, in
 * milliseconds.
 */
const bodyMs = 2_000;

/**
 * A webhook request and its response. One deadline covers everything up to the end of the response headers,
 * another the rest of the body.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #request: ExchangeRequest;
  readonly #settled: (answer: AttemptAnswer | null) => void;
  readonly #startedAt: number;
  #connection: Connection;
  #timer: NodeJS.Timeout | undefined;
  /** True if the connection was already open when the request started. */
  #isKept = false;
  #isSent = false;
  /** HTTP status, set once the response headers are complete. From then on the outcome is decided. */
  #status: number | null = null;
  #durationMs = 0;
  /**
   * True if no bytes of this response can follow its end, so that the connection can be used for another
   * request.
   */
  #endsCleanly = true;
  #chunks: Buffer[] = [];
  #size = 0;
  #isSettled = false;

  /**
   * Prepares a webhook request. @param settled - called once with the result; with `null` if too many
   * requests to the reached address are running, so that nothing was sent
   */
  constructor(
    options: ExchangeOptions,
    request: ExchangeRequest,
    settled: (answer: AttemptAnswer | null) => void,
  ) {
    this.#options = options;
    this.#request = request;
    this.#settled = settled;
    this.#startedAt = options.now() - request.lookupMs;
    this.#connection = request.connection;
  }

  start(): void {
    this.#options.underWay.add(this);
    this.#limit(this.#options.timeoutMs - this.#request.lookupMs);
    this.#send();
  }

  /** Aborts the request. If its status is known already, only the rest of the body is given up. */
  async abort(): Promise<void> {
    await this.#fail('aborted');
  }

  /** Called by undici before the first byte of the request is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) return;
    if (this.#request.place.moveTo(this.#connection.address)) {
      this.#isSent = true;
    } else {
      this.#settle(null);
      controller.abort(new Error('The address has no place for the request'));
      void this.#connection.destroy();
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.#isSettled) return;
    if (status === 101) return void this.#fail('protocol');
    if (status < 200) return;
    this.#status = status;
    this.#durationMs = this.#options.now() - this.#startedAt;
    // No body follows (RFC 9110, sections 15.3.5 and 15.4.5), so do not wait for one. Some servers announce
    // one anyway, whose bytes would be taken for the response to the next request.
    if (status === 204 || status === 304) this.#endsCleanly = !announcesBody(headers);
    else this.#limit(bodyMs);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > maxKeptBody) void this.#fail('protocol');
  }

  onResponseEnd(): void {
    if (this.#isSettled || this.#status === null) return;
    if (this.#endsCleanly) this.#options.connections.giveBack(this.#connection);
    else void this.#connection.destroy();
    this.#settle(this.#answered(this.#status));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return;
    if (this.#isSent || !this.#isKept) return void this.#fail(errorClassOf(error));
    // A kept connection broke before the request was written. The endpoint has not seen the request, so
    // another connection may be used.
    void this.#connection.destroy();
    this.#connection = this.#options.connections.open(this.#connection.found);
    this.#send();
  }

  /** Aborts the webhook request after a time limit, unless the request ended before. */
  #limit(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#fail('timeout'), Math.ceil(ms));
  }

  #send(): void {
    this.#isKept = this.#connection.isKept;
    this.#connection.dispatch(this.#request.request, this);
  }

  /**
   * Ends a request that failed. Destroys the connection, because bytes of this response may still arrive on
   * it.
   */
  async #fail(error: AttemptErrorClass): Promise<void> {
    if (this.#isSettled) return;
    // Must come first: destroying the connection calls `onResponseError`, which must not settle the request
    // as well.
    this.#settle(
      this.#status === null
        ? failedAnswer(error, this.#options.now() - this.#startedAt)
        : this.#answered(this.#status),
    );
    await this.#connection.destroy();
  }

  #answered(status: number): AttemptAnswer {
    const ok = status >= 200 && status < 300;
    const isRedirect = status >= 300 && status < 400;
    return {
      ok,
      httpStatus: status,
      error: ok ? null : isRedirect ? 'redirect' : 'status',
      response: storableText(this.#chunks, this.#size),
      durationMs: Math.round(this.#durationMs),
    };
  }

  #settle(answer: AttemptAnswer | null): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#options.underWay.delete(this);
    this.#settled(answer);
  }
}

function announcesBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding !== undefined || length !== '0';
}

/** Decodes bytes to text that every database can store: invalid UTF-8 and U+0000 become U+FFFD. */
function storableText(chunks: readonly Buffer[], size: number): string {
  if (size === 0) return '';
  const bytes = Buffer.concat(chunks, Math.min(size, maxKeptBody));
  return bytes.toString('utf8').replaceAll('\u0000', '\ufffd');
}
