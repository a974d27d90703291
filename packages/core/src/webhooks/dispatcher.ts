/*
 * The dispatcher delivers webhooks in three parts, each with its own state:
 *
 * - This file claims due deliveries whenever the worker polls (worker/polling.ts): as many as attempts are
 *   free, in fair shares of partners and modes (limits/shares.ts).
 * - running.ts makes the attempts, as many at once as endpoint-limiter.ts allows.
 * - writing.ts stores the results of the attempts, in groups.
 *
 * A write of results also triggers a claim if the claim may find work, so that a busy worker claims and writes
 * in batches, without a timer.
 */

import { createShares, ownerName } from '../limits/shares.ts';
import type { ClaimedDelivery, DeliveryResult, DeliveryStore } from '../ports/deliveries.ts';
import type { Random } from '../secrets/random.ts';
import type { HourlyCounts } from '../telemetry/hourly-counts.ts';
import { createOutageLog } from '../telemetry/outage-log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { nodeTimer, type Schedule } from '../time/clock.ts';
import { createPolling, type Found } from '../worker/polling.ts';
import { stopGraceMs } from '../worker/stopping.ts';
import { leaseMs, type Worker } from '../worker/worker.ts';
import type { AttemptOptions } from './attempt.ts';
import { createRunning } from './running.ts';
import { createTestBudget } from './test-budget.ts';
import { createWriting } from './writing.ts';

/** Settings and dependencies of the webhook dispatcher. */
export interface DispatcherOptions extends AttemptOptions {
  readonly deliveries: DeliveryStore;
  readonly random: Random;
  /** Maximum number of concurrent attempts. */
  readonly concurrency: number;
  readonly telemetry: Telemetry | null;
  readonly counts: Pick<HourlyCounts, 'add' | 'measure'>;
  readonly schedule?: Schedule;
}

/**
 * Longest time from the claim of a delivery to the start of its attempt, in milliseconds. A delivery that has
 * waited longer for other attempts to its endpoint is handed back, because URL and secret date from the claim.
 */
export const maxWaitMs = 1_000;

/** Maximum number of deliveries that one claim takes. */
const batch = 1_024;

/** Counts an attempt by its result. Attempts that this worker cut off say nothing about the endpoint. */
function countAttempt(
  counts: DispatcherOptions['counts'],
  { mode }: ClaimedDelivery,
  { attempt, isCutOff, next }: DeliveryResult,
): void {
  if (attempt === null || isCutOff) return;
  counts.add(next.status === 'delivered' ? 'deliveries_accepted' : 'deliveries_failed', mode);
}

/** Creates the worker that delivers webhooks. It does nothing before `start` or `runDue`. */
export function createDispatcher(options: DispatcherOptions): Worker {
  const { deliveries, clock, random, logger, concurrency, counts, schedule = nodeTimer } = options;
  /** True if running attempts and unsaved results left no room at the last poll, so that it claimed nothing. */
  let isFull = false;
  /** True while the worker stops, so that a claim that was in progress is handed back. */
  let isStopping = false;

  const shares = createShares(concurrency);
  const testBudget = createTestBudget();
  const running = createRunning({ ...options, minLeaseMs: leaseMs - maxWaitMs }, (delivery, ended) => {
    const owner = ownerName(delivery);
    shares.end(owner);
    if (ended.result.attempt === null) testBudget.giveBack(owner);
    countAttempt(counts, delivery, ended.result);
    writing.add(ended);
  });
  const { limiter } = running;
  const outages = createOutageLog({
    ...{ logger, clock },
    failing: 'deliveries cannot be claimed; it is tried again',
    working: 'deliveries can be claimed again',
  });
  const polling = createPolling({ claim, outages, schedule });
  const writing = createWriting({
    ...{ deliveries, clock, logger, schedule, concurrency },
    isRunning: polling.isStarted,
    // Only endpoints with a history profit from an early poll; the next regular poll finds the others.
    writing() {
      if (limiter.hasSlots()) polling.resume();
    },
    written() {
      if (isFull) polling.resume();
    },
  });

  async function claim(): Promise<Found> {
    // Count results that are not stored yet, so that a slow database slows the worker down.
    const limit = Math.min(batch, limiter.free, concurrency - writing.open);
    isFull = limit <= 0;
    if (isFull) return { claimed: 0, isCutOff: false };
    const now = clock.now();
    const claimed = await deliveries.claim({
      claimId: random.bytes(16).toString('hex'),
      ...{ now, leaseMs, limit },
      endpointLimit: limiter.freeOfUnknown,
      endpointLimits: limiter.slots(),
      shares: testBudget.limited(shares.forClaim(), now),
    });
    for (const delivery of claimed) {
      const owner = ownerName(delivery);
      shares.begin(owner);
      testBudget.spend(owner, now);
      counts.measure('wait_ms', delivery.mode, Math.max(0, now - delivery.dueAt));
      writing.expect();
      const leased = { delivery, leaseEndsAt: now + leaseMs };
      if (isStopping) running.handBack([leased]);
      else running.add(leased);
    }
    return { claimed: claimed.length, isCutOff: claimed.length >= limit };
  }

  return {
    start: polling.start,
    wake: polling.wake,
    async runDue() {
      const count = await polling.now();
      await writing.settled();
      return count;
    },
    async stop() {
      isStopping = true;
      running.stop();
      const cancelGrace = schedule(() => options.client.abort(), stopGraceMs);
      await polling.stop();
      await writing.settled();
      cancelGrace();
      await writing.idle();
      isStopping = false;
    },
  };
}
