import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { isPublicAddress } from './addresses.ts';
import { errorClassOf } from './attempt-errors.ts';
import { Connections, type Open } from './connections.ts';
import { dial } from './dial.ts';
import { type AttemptAnswer, Exchange, failedAnswer } from './exchange.ts';
import { handedHeaders } from './sent-headers.ts';
import { defaultResolve, parseTarget, type Resolve, type TargetPolicy, targetAddresses } from './targets.ts';

export type { AttemptErrorClass } from './attempt-errors.ts';
export type { AttemptAnswer } from './exchange.ts';

/** One POST. */
export interface WebhookRequest {
  readonly url: string;
  /** Besides `Host`, `Content-Length`, `User-Agent`, `Accept` and `Accept-Encoding`, which the client sets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

/** The guarded client that makes every outgoing request to a URL of a partner. */
export interface WebhookClient {
  /**
   * Makes one attempt, which sends at most one request: an endpoint that closes a kept connection in the very
   * moment in which the request leaves makes the attempt fail, because nobody knows what it has read.
   * Never rejects.
   */
  post(request: WebhookRequest): Promise<AttemptAnswer>;
  /** Ends attempts under way as `aborted`; later ones are made. */
  abort(): void;
  /** Ends attempts under way as `aborted` and closes every connection; later attempts are `aborted` too. */
  close(): Promise<void>;
}

export interface WebhookClientOptions {
  readonly policy: TargetPolicy;
  /** @defaultValue `defaultResolve(policy)` */
  readonly resolve?: Resolve;
  /** From the start to the end of the response headers, in milliseconds. @defaultValue 10,000 */
  readonly timeoutMs?: number;
  /** How long an unused connection is kept, in milliseconds. @defaultValue 4,000 */
  readonly idleMs?: number;
  /** How many unused connections are kept. @defaultValue 256 */
  readonly maxIdle?: number;
  /** Extra TLS options, such as `ca` for a private certificate authority. */
  readonly connect?: SecureContextOptions;
  /** A monotonic clock in milliseconds, for durations and deadlines. @defaultValue `performance.now()` */
  readonly now?: () => number;
}

/**
 * Creates the client. It resolves each name once per connection, checks every address, dials a checked one and
 * checks who answered; it follows no redirect, asks no proxy and inflates nothing.
 */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const {
    policy,
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

  const open: Open = async (url, signal, resolved) => {
    const addresses = await targetAddresses(url, policy, resolve);
    resolved();
    return await dial(url, addresses, { isAllowed, secureContext, signal });
  };
  const connections = new Connections({ open, idleMs, maxIdle, now });
  const shared = { connections, underWay, timeoutMs, now };

  return {
    post: ({ url, headers, body }) =>
      new Promise((settle) => {
        if (isClosed) return settle(failedAnswer('aborted', 0));
        let target: URL;
        try {
          target = parseTarget(url, policy);
        } catch (error) {
          return settle(failedAnswer(errorClassOf(error), 0));
        }
        const path = `${target.pathname}${target.search}`;
        const request = { method: 'POST', path, headers: handedHeaders(headers), body } as const;
        new Exchange(shared, { target, request }, settle).start();
      }),
    abort: () => {
      for (const exchange of underWay) void exchange.abort();
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...Array.from(underWay, (exchange) => exchange.abort()), connections.close()]);
    },
  };
}
