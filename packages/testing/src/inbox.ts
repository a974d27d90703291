import type { CapturedDelivery } from './delivery.ts';

/**
 * Webhook deliveries that the partner's endpoints received in a test.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * await kit.webhooks.register('https://shop.example/webhooks');
 * kit.inbox.clear();
 * ```
 */
export interface TestInbox {
  /** All webhook attempts that reached an endpoint, in order, including retries and duplicates. */
  readonly deliveries: readonly CapturedDelivery[];
  /**
   * Returns the oldest attempt that `next` has not returned yet: of the given event type or, if none is
   * given, of any type. Runs due work first, and waits a little for running requests. Does not advance the
   * clock.
   *
   * @throws Error that lists the deliveries that did arrive, if none matches in time
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * await kit.webhooks.register('https://shop.example/webhooks');
   * await kit.users.update(kit.user, { kycTier: 3 });
   * const { event, body, headers } = await kit.inbox.next('kyc.updated');
   * ```
   */
  next(
    type?: string,
    options?: {
      /** Longest time to wait for a delivery, in milliseconds of real time. @defaultValue 2,000 */
      readonly timeoutMs?: number;
    },
  ): Promise<CapturedDelivery>;
  /** Removes all deliveries that have arrived. */
  clear(): void;
}

/** Functions of the test kit that the inbox needs, which collects the webhooks that a test receives. */
export interface InboxParts {
  /** Webhook attempts that were sent, in the order in which they happened. */
  readonly sent: CapturedDelivery[];
  /** Runs all work that is due now. */
  readonly settle: () => Promise<void>;
  /**
   * Resolves with `true` after the next response of the service, or with `false` after `ms` milliseconds
   * without one.
   */
  readonly activity: (ms: number) => Promise<boolean>;
}

function missing(type: string | undefined, sent: readonly CapturedDelivery[]): Error {
  const arrived = sent.map((delivery) => `${delivery.type} (${delivery.status ?? 'no answer'})`);
  return new Error(
    `no delivery ${type === undefined ? '' : `of ${type} `}arrived; so far: ${arrived.join(', ') || 'none'}. ` +
      'Is an endpoint registered for it, in the mode of the key? A retry needs clock.advance().',
  );
}

export function createInbox({ sent, settle, activity }: InboxParts): TestInbox {
  const taken = new Set<CapturedDelivery>();

  return {
    get deliveries() {
      return [...sent];
    },
    async next(type, { timeoutMs = 2_000 } = {}) {
      const deadline = performance.now() + timeoutMs;
      do {
        await settle();
        const found = sent.find(
          (delivery) => !taken.has(delivery) && (type ?? delivery.type) === delivery.type,
        );
        if (found !== undefined) {
          taken.add(found);
          return found;
        }
      } while (await activity(deadline - performance.now()));
      throw missing(type, sent);
    },
    clear() {
      sent.length = 0;
      taken.clear();
    },
  };
}
