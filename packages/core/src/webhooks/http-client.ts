import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { Owner } from '../ports/partners.ts';
import type { OwnerName } from '../ports/shares.ts';
import { isPublicAddress } from './addresses.ts';
import { type AttemptAnswer, failedAnswer } from './attempt-answer.ts';
import { errorClassOf } from './attempt-errors.ts';
import { type Connection, Connections, type Open } from './connections.ts';
import { dial } from './dial.ts';
import { Exchange } from './exchange.ts';
import { createLookups } from './lookups.ts';
import { handedHeaders } from './sent-headers.ts';
import { createTargetLimits, type TargetLimits } from './target-limits.ts';
import { defaultResolve, parseTarget, type Resolve, type TargetPolicy } from './targets.ts';

export type { AttemptAnswer } from './attempt-answer.ts';
export type { AttemptErrorClass } from './attempt-errors.ts';

/** A POST request to a URL that a partner or OAuth client chose. */
export interface WebhookRequest {
  readonly url: string;
  /**
   * Headers of the request, except `Host`, `Connection`, `Content-Length`, `User-Agent`, `Accept` and
   * `Accept-Encoding`, which the client sets.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /**
   * Partner and mode on whose behalf the request is sent, for the fair division of the concurrent requests to
   * one address.
   */
  readonly owner: OwnerName;
  /**
   * Endpoint to which the request goes, with its secret, for an inbox of this service; missing if the URL
   * belongs to no endpoint. The HTTP client does not use it.
   */
  readonly endpoint?: Owner & { readonly id: string; readonly secret: string };
}

/**
 * HTTP client for POST requests to URLs that partners and OAuth clients chose: webhooks and back-channel
 * logout. It connects only to allowed addresses.
 */
export interface WebhookClient {
  /**
   * Makes one webhook attempt, which sends at most one request. If the endpoint closes a kept connection just
   * when the request is sent, the attempt fails, because it is unknown what the endpoint has read.
   * Rejects only if the storage of an inbox fails. Resolves with `null`, and has sent nothing, if too many
   * requests to the target's address were running, and no place became free in time or before an abort.
   */
  post(request: WebhookRequest): Promise<AttemptAnswer | null>;
  /**
   * Ends running attempts, as `aborted` unless their status is known already, and waiting attempts with
   * `null`. Later attempts are possible.
   */
  abort(): void;
  /** Ends attempts as `abort` does and later ones as `aborted`, and closes all connections. */
  close(): Promise<void>;
}

export interface WebhookClientOptions {
  readonly policy: TargetPolicy;
  /** Function that resolves host names of targets to IP addresses. @defaultValue `defaultResolve(policy)` */
  readonly resolve?: Resolve;
  /** Limits of concurrent requests per IP address. @defaultValue 64 to each address */
  readonly targets?: TargetLimits;
  /**
   * Longest time from the start of a request to the end of the response headers, in milliseconds, without the
   * wait for a free place. @defaultValue 10,000
   */
  readonly timeoutMs?: number;
  /** Time for which an unused connection is kept, in milliseconds. @defaultValue 4,000 */
  readonly idleMs?: number;
  /** Maximum number of unused connections that are kept open; the oldest is closed first. @defaultValue 256 */
  readonly maxIdle?: number;
  /** Extra TLS options, such as `ca` for a private certificate authority. */
  readonly connect?: SecureContextOptions;
  /** A monotonic clock in milliseconds, for durations and deadlines. @defaultValue `performance.now()` */
  readonly now?: () => number;
}

/**
 * Creates the HTTP client for URLs that partners chose. It resolves each name once per connection, checks
 * every address, waits until it may send another request to the address, connects to a checked address and
 * verifies the certificate. It does not follow redirects, use proxies or decompress responses.
 */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const {
    policy,
    targets = createTargetLimits(),
    timeoutMs = 10_000,
    idleMs = 4_000,
    maxIdle = 256,
    now = () => performance.now(),
  } = options;
  const resolve = options.resolve ?? defaultResolve(policy);
  const isAllowed = policy.allowPrivate ? () => true : isPublicAddress;
  const underWay = new Set<Exchange>();
  let isClosed = false;
  let context: SecureContext | undefined;
  const secureContext = () => {
    context ??= createSecureContext(options.connect);
    return context;
  };

  const lookups = createLookups(policy, resolve, timeoutMs);
  const open: Open = ({ url, addresses }, signal) =>
    dial(url, addresses, { isAllowed, secureContext, signal });
  const connections = new Connections({ open, idleMs, maxIdle, now });
  const shared = { connections, underWay, timeoutMs, now };

  /** Returns a kept connection to the webhook target, or resolves its host name for a new connection. */
  async function connectionTo(url: URL): Promise<Connection> {
    const kept = connections.take(url);
    if (kept !== null) return kept;
    const addresses = await lookups.addressesOf(url);
    return connections.open({ url, addresses, foundAt: now() });
  }

  function abort(): void {
    targets.turnAway();
    lookups.abort();
    for (const exchange of underWay) void exchange.abort();
  }

  return {
    abort,
    async post({ url, headers, body, owner }) {
      if (isClosed) return failedAnswer('aborted', 0);
      const startedAt = now();
      let target: URL;
      let connection: Connection;
      try {
        target = parseTarget(url, policy);
        connection = await connectionTo(target);
      } catch (error) {
        return failedAnswer(errorClassOf(error), now() - startedAt);
      }
      const lookupMs = now() - startedAt;
      const place = await targets.enter(connection.address, owner);
      if (place === null) {
        connections.giveBack(connection);
        return null;
      }
      const path = `${target.pathname}${target.search}`;
      const request = { method: 'POST', path, headers: handedHeaders(headers), body } as const;
      const answer = await new Promise<AttemptAnswer | null>((settle) => {
        new Exchange(shared, { request, connection, place, lookupMs }, settle).start();
      });
      place.leave();
      return answer;
    },
    close: async () => {
      isClosed = true;
      const ending = Array.from(underWay, (exchange) => exchange.abort());
      abort();
      await Promise.all([...ending, connections.close()]);
    },
  };
}
