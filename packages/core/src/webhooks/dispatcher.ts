import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { ClaimedDelivery, DeliveryResult, DeliveryStore } from '../ports/deliveries.ts';
import type { Random } from '../random.ts';
import type { Telemetry } from '../telemetry.ts';
import { createPace } from '../worker/pace.ts';
import { nodeTimer, type Schedule, type Worker } from '../worker/worker.ts';
import {
  type AttemptEnd,
  type AttemptOptions,
  attempt,
  handedBack,
  measuredAttempt,
  ownFaultMs,
} from './attempt.ts';
import { createBacklog } from './backlog.ts';
import { createLanes } from './lanes.ts';

/** What the delivery of webhooks needs. */
export interface DispatcherOptions extends AttemptOptions {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Attempts under way at most. */
  readonly concurrency: number;
  readonly telemetry: Telemetry | null;
  readonly schedule?: Schedule;
}

/** A delivery that was claimed. */
interface Held {
  readonly delivery: ClaimedDelivery;
  readonly leaseEndsAt: number;
}

/** An attempt that is over, and whose result is not written yet. */
interface Ended {
  readonly result: DeliveryResult;
  /** Until then nobody else takes the delivery. */
  readonly leaseEndsAt: number;
}

const leaseMs = 30_000;

/** What was claimed ahead and waits for longer, because its endpoint has become slow, is claimed anew. */
const maxWaitMs = 1_000;

/** Deliveries of one claim at most. */
const batch = 1_024;

/** Results of one write at most, and characters of their answers, so that it stays a matter of milliseconds. */
const maxGroup = { results: 2_048, characters: 2 ** 21 };

/** A failed write of results is tried again after this time, for as long as the worker runs. */
const flushRetryMs = 500;

/** Results are gathered until so many turns of the event loop in a row have brought none. */
const quietTurns = 16;

/** `stop` lets attempts end for this long; what is left is handed back. */
const graceMs = 5_000;

/**
 * Delivers webhooks: claims what is due, attempts it, writes the results. Results of attempts that end
 * together are written together, and every write brings a claim along, so that a busy worker claims and
 * writes in batches, without a timer.
 */
export function createDispatcher(options: DispatcherOptions): Worker {
  const { deliveries, clock, random, logger, telemetry, schedule = nodeTimer } = options;
  const backlog = createBacklog<Held>();
  const pace = createPace();
  const gatherSize = Math.min(maxGroup.results, Math.ceil(options.concurrency / 2));
  const lanes = createLanes(options.concurrency, backlog.sizeOf);
  let running = false;
  let cancelPoll: () => void = () => {};

  let claiming: Promise<number> | null = null;
  /** Whether something may be due that the claim under way does not see. */
  let woken = false;
  /** Whether there was room for more while a claim was under way. */
  let hadRoom = false;
  /** Whether the last claim found no room. */
  let full = false;

  const results: Ended[] = [];
  let flushing: Promise<void> | null = null;
  /** Deliveries that were claimed and whose results are not written. */
  let open = 0;
  let whenNoneIsOpen: (() => void)[] = [];

  /** Results that are written, or given up. */
  function through(count: number): void {
    open -= count;
    if (open > 0) return;
    for (const resolve of whenNoneIsOpen) resolve();
    whenNoneIsOpen = [];
  }

  /**
   * Writes each result for itself, after writing them together has failed: one that the storage does not take must
   * not keep the others. What fails again is tried again until its lease ends; another claim makes that attempt anew.
   */
  async function writeEach(group: readonly Ended[]): Promise<void> {
    const outcomes = await Promise.allSettled(group.map(({ result }) => deliveries.finish([result])));
    const isLost = ({ leaseEndsAt }: Ended) => !running || leaseEndsAt <= clock.now();
    const failed = group.filter((_, index) => outcomes[index]?.status === 'rejected');
    const kept = failed.filter((ended) => !isLost(ended));
    through(group.length - kept.length);
    results.push(...kept);
    if (kept.length > 0) await new Promise<void>((resolve) => schedule(resolve, flushRetryMs));
  }

  /**
   * Lets turns of the event loop pass as long as attempts keep ending: a commit costs nearly the same for one result and
   * for many.
   */
  async function gather(): Promise<void> {
    let quiet = 0;
    for (let size = results.length; size < gatherSize && size < open && quiet < quietTurns; ) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      quiet = results.length > size ? 0 : quiet + 1;
      size = results.length;
    }
  }

  /** Takes those that ended first, as many as one write should carry. */
  function takeGroup(): Ended[] {
    let characters = 0;
    const end = results.findIndex(({ result }, index) => {
      characters += result.attempt?.response?.length ?? 0;
      return index === maxGroup.results || (index > 0 && characters > maxGroup.characters);
    });
    return results.splice(0, end === -1 ? results.length : end);
  }

  /** Writes what has ended, and what ends meanwhile, until nothing is left. */
  async function flush(): Promise<void> {
    while (results.length > 0) {
      await gather();
      const group = takeGroup();
      const writing = deliveries.finish(group.map(({ result }) => result));
      // In the same turn, so that a storage which commits in groups commits both at once. What is due for endpoints that
      // nobody has heard of is found when it is looked for in any case.
      if (running && lanes.hasSlots()) refill();
      try {
        await writing;
        through(group.length);
      } catch (error) {
        logger.warn({ err: error, results: group.length }, 'results of deliveries could not be written');
        await writeEach(group);
      }
    }
    // In the same turn as the last look at `results`: what ends from now on begins a flush of its own.
    flushing = null;
    if (running && full) void claim();
  }

  function end({ delivery, leaseEndsAt }: Held, { result, answered }: AttemptEnd): void {
    lanes.end(delivery.endpointId, answered, result.attempt?.durationMs);
    results.push({ result, leaseEndsAt });
    if (answered) proceed(delivery.endpointId);
    else handBack(backlog.empty(delivery.endpointId));
    flushing ??= flush();
  }

  /** Goes on with what waits for an endpoint. */
  function proceed(endpointId: string): void {
    while (!lanes.isFull(endpointId)) {
      const held = backlog.next(endpointId);
      if (held === undefined) return;
      // URL and secret are those of the claim.
      if (held.leaseEndsAt - clock.now() > leaseMs - maxWaitMs) begin(held);
      else handBack([held]);
    }
  }

  /** Leaves to others, or to a later claim, what was not begun. */
  function handBack(waiting: readonly Held[]): void {
    for (const { delivery, leaseEndsAt } of waiting) {
      results.push({ result: handedBack(delivery, delivery.dueAt), leaseEndsAt });
    }
    if (waiting.length > 0) flushing ??= flush();
  }

  function begin(held: Held): void {
    const { delivery } = held;
    lanes.begin(delivery.endpointId);
    const attempted =
      telemetry === null ? attempt(options, delivery) : measuredAttempt(options, delivery, telemetry);
    attempted.then(
      (ended) => end(held, ended),
      (error: unknown) => {
        logger.error({ err: error, delivery: delivery.id }, 'an attempt broke off; it is made again');
        const result = handedBack(delivery, clock.now() + ownFaultMs);
        end(held, { result, answered: false });
      },
    );
  }

  function deliver(held: Held): void {
    open += 1;
    if (lanes.isFull(held.delivery.endpointId)) backlog.add(held.delivery.endpointId, held);
    else begin(held);
  }

  async function claimOnce(): Promise<number> {
    // Results that wait to be written count too: a slow database slows the worker down.
    const limit = Math.min(batch, lanes.free, options.concurrency - open);
    full = limit <= 0;
    if (full) return 0;
    const now = clock.now();
    const claimed = await deliveries.claim({
      claimId: random.bytes(16).toString('hex'),
      now,
      leaseMs,
      limit,
      room: lanes.freeOfUnknown,
      rooms: lanes.slots(),
    });
    pace.took(clock.now() - now);
    for (const delivery of claimed) deliver({ delivery, leaseEndsAt: now + leaseMs });
    // Only a claim that was cut off by its limit can have left something.
    if (running && claimed.length >= limit) woken = true;
    return claimed.length;
  }

  /** One claim at a time; a wake during one is another one right after it. */
  function claim(): Promise<number> {
    woken = true;
    claiming ??= (async () => {
      let total = 0;
      try {
        while (woken || (hadRoom && running && lanes.hasSlots())) {
          woken = false;
          hadRoom = false;
          total += await claimOnce();
        }
        pace.found(total);
      } catch (error) {
        logger.warn({ err: error }, 'deliveries cannot be claimed; it is tried again');
      } finally {
        claiming = null;
      }
      return total;
    })();
    return claiming;
  }

  /** Claims for the room that is there; after a claim under way only for what that one leaves. */
  function refill(): void {
    if (claiming === null) void claim();
    else hadRoom = true;
  }

  /** Looks for work, unless somebody does at this moment, and again after a while. */
  function poll(): void {
    void (claiming ?? claim()).then(() => {
      if (running) cancelPoll = schedule(poll, pace.wait());
    });
  }

  async function settled(): Promise<void> {
    if (open > 0) await new Promise<void>((resolve) => whenNoneIsOpen.push(resolve));
  }

  return {
    start() {
      if (running) return;
      running = true;
      poll();
    },
    wake() {
      if (running) void claim();
    },
    async runDue() {
      const count = await claim();
      await settled();
      return count;
    },
    async stop() {
      running = false;
      cancelPoll();
      await claiming;
      handBack(backlog.empty());
      const cancelGrace = schedule(() => options.client.abort(), graceMs);
      await settled();
      cancelGrace();
      await flushing;
    },
  };
}
