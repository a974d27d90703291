import type { ClaimedDelivery } from '../ports/deliveries.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import {
  type AttemptEnd,
  type AttemptOptions,
  attempt,
  faultPauseMs,
  handedBack,
  measuredAttempt,
} from './attempt.ts';
import { createEndpointLimiter } from './endpoint-limiter.ts';
import type { Ended } from './writing.ts';

export interface Leased {
  readonly delivery: ClaimedDelivery;
  readonly leaseEndsAt: number;
}

/**
 * Creates the second part of the webhook dispatcher, which makes the attempts. Limits the concurrent attempts
 * to each endpoint by how well it responds.
 * @param ended - called once for each added delivery, when its attempt is over or it is handed back
 */
export function createRunning(
  options: AttemptOptions & {
    readonly telemetry: Telemetry | null;
    readonly concurrency: number;
    /** Minimum remaining time of a delivery's lease when an attempt starts, in milliseconds. */
    readonly minLeaseMs: number;
  },
  ended: (delivery: ClaimedDelivery, end: Ended) => void,
) {
  const { clock, logger, telemetry, minLeaseMs } = options;
  /** Deliveries that were claimed ahead and wait, by endpoint, in the order of their claim. */
  const waiting = new Map<string, Leased[]>();
  const limiter = createEndpointLimiter(options.concurrency, (id) => waiting.get(id)?.length ?? 0);

  function begin(leased: Leased): void {
    const { delivery } = leased;
    limiter.begin(delivery.endpointId);
    const attempted =
      telemetry === null ? attempt(options, delivery) : measuredAttempt(options, delivery, telemetry);
    attempted.then(
      (attemptEnd) => end(leased, attemptEnd),
      (error: unknown) => {
        logger.error({ err: error, delivery: delivery.id }, 'an attempt broke off; it is made again');
        const result = handedBack(delivery, clock.now() + faultPauseMs);
        end(leased, { result, answered: false });
      },
    );
  }

  function end({ delivery, leaseEndsAt }: Leased, { result, answered }: AttemptEnd): void {
    const { endpointId } = delivery;
    if (result.attempt === null) limiter.giveBack(endpointId);
    else limiter.end(endpointId, answered ? result.attempt.durationMs : null);
    ended(delivery, { result, leaseEndsAt });
    const queue = waiting.get(endpointId) ?? [];
    if (limiter.isProven(endpointId)) proceed(endpointId, queue);
    else handBack(queue.splice(0));
    if (queue.length === 0) waiting.delete(endpointId);
  }

  function proceed(endpointId: string, queue: Leased[]): void {
    while (!limiter.isFull(endpointId)) {
      const leased = queue.shift();
      if (leased === undefined) return;
      // Claim again if the claim is old: URL and secret date from it.
      if (leased.leaseEndsAt - clock.now() > minLeaseMs) begin(leased);
      else handBack([leased]);
    }
  }

  /** Hands back claimed deliveries that were not attempted, so that another claim gets them. */
  function handBack(unbegun: readonly Leased[]): void {
    for (const { delivery, leaseEndsAt } of unbegun) {
      ended(delivery, { result: handedBack(delivery, delivery.dueAt), leaseEndsAt });
    }
  }

  return {
    limiter,
    handBack,
    /**
     * Starts an attempt to deliver a webhook, or queues the delivery until another attempt to its endpoint
     * ends.
     */
    add(leased: Leased): void {
      const { endpointId } = leased.delivery;
      if (!limiter.isFull(endpointId)) return void begin(leased);
      const queue = waiting.get(endpointId);
      if (queue === undefined) waiting.set(endpointId, [leased]);
      else queue.push(leased);
    },
    /** Hands back the queued deliveries. Attempts that are running continue. */
    stop(): void {
      handBack([...waiting.values()].flat());
      waiting.clear();
    },
  };
}
