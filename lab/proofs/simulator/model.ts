/*
 * The model: workers that claim what is due, and endpoints that answer, as a discrete-event simulation. Its rules are those of
 * the dispatcher (packages/core/src/webhooks), whose own lanes decide how many attempts an endpoint may have under way, and whose
 * own pace decides how often it looks for work. What it leaves out: leases that end, results that cannot be written, a database that is the limit.
 */

import { createLanes } from '../../../packages/core/src/webhooks/lanes.ts';
import { createPace } from '../../../packages/core/src/worker/pace.ts';
import { type Agenda, createAgenda } from './agenda.ts';
import { answerOf, arrivalsOf, type Plan } from './plan.ts';
import { createTally, type Report, type Tally } from './tally.ts';

interface Delivery {
  readonly endpoint: number;
  readonly publishedAt: number;
  readonly dueAt: number;
  readonly attempt: number;
}

/** Deliveries of one claim at most. */
const batch = 1_024;

/** What is pending, as the database has it. */
function createOutbox(plan: Plan, tally: Tally) {
  const outbox = plan.endpoints.map((_, endpoint) => {
    const arrivals = arrivalsOf(plan, endpoint);
    return {
      arrivals,
      next: arrivals.next().value,
      servedAt: 0,
      queues: plan.delaysMs.map(() => queue()).concat(queue()),
    };
  });

  /** First in, first out: delays are fixed, so what has failed as often is due in its order. */
  function queue(): { items: Delivery[]; head: number } {
    return { items: [], head: 0 };
  }

  /** The one that is due first, by now. */
  function first(endpoint: number, now: number) {
    const box = outbox[endpoint];
    if (box === undefined) return undefined;
    const [fresh] = box.queues;
    for (; box.next <= now; box.next = box.arrivals.next().value) {
      tally.published(endpoint, box.next);
      fresh?.items.push({ endpoint, publishedAt: box.next, dueAt: box.next, attempt: 1 });
    }
    let found: ReturnType<typeof queue> | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    for (const one of box.queues) {
      const dueAt = one.items[one.head]?.dueAt ?? Number.POSITIVE_INFINITY;
      if (dueAt <= now && dueAt < earliest) [found, earliest] = [one, dueAt];
    }
    return found;
  }

  return {
    /** Endpoints of which something is due, those that were served longest ago first. */
    due: (now: number): number[] =>
      [...outbox.keys()]
        .filter((endpoint) => first(endpoint, now) !== undefined)
        .toSorted((a, b) => (outbox[a]?.servedAt ?? 0) - (outbox[b]?.servedAt ?? 0)),
    take(endpoint: number, now: number, most: number): Delivery[] {
      const taken: Delivery[] = [];
      for (let from = first(endpoint, now); from && taken.length < most; from = first(endpoint, now)) {
        const delivery = from.items[from.head];
        if (delivery !== undefined) taken.push(delivery);
        from.head += 1;
        // Now and then what is gone is let go.
        if (from.head > 10_000 && from.head * 2 > from.items.length) {
          from.items = from.items.slice(from.head);
          from.head = 0;
        }
      }
      const box = outbox[endpoint];
      if (box !== undefined && taken.length > 0) box.servedAt = now;
      return taken;
    },
    retry(delivery: Delivery): void {
      outbox[delivery.endpoint]?.queues[delivery.attempt - 1]?.items.push(delivery);
    },
    /** What was claimed ahead is due as before, before what came later. */
    handBack(deliveries: readonly Delivery[]): void {
      for (const delivery of deliveries.toReversed()) {
        const to = outbox[delivery.endpoint]?.queues[delivery.attempt - 1];
        to?.items.splice(to.head, 0, delivery);
      }
    },
  };
}

type Outbox = ReturnType<typeof createOutbox>;

/** One worker process: claims, attempts within lanes, and writes, each with a claim beside it. */
function startWorker(plan: Plan, agenda: Agenda, outbox: Outbox, tally: Tally): void {
  const { concurrency, roundMs, cpuMs, delaysMs } = plan;
  const waiting = new Map<string, Delivery[]>();
  const lanes = createLanes(concurrency, (id) => waiting.get(id)?.length ?? 0);
  const is = { claiming: false, woken: false, writing: false, full: false };
  const pace = createPace();
  let [open, results, idleAt] = [0, 0, 0];

  function claim(): void {
    [is.woken, is.claiming] = [is.claiming, true];
    if (is.woken) return;
    agenda.after(roundMs, () => {
      const limit = Math.min(batch, lanes.free, concurrency - open);
      is.full = limit <= 0;
      const claimed = is.full ? 0 : takeDue(limit);
      is.claiming = false;
      pace.found(claimed);
      if (is.woken || (!is.full && claimed >= limit)) claim();
    });
  }

  function takeDue(limit: number): number {
    const [now, slots, room] = [agenda.now(), lanes.slots(), lanes.freeOfUnknown];
    let claimed = 0;
    for (const endpoint of outbox.due(now)) {
      const most = Math.min(slots.get(String(endpoint)) ?? room, limit - claimed);
      const taken = most > 0 ? outbox.take(endpoint, now, most) : [];
      claimed += taken.length;
      for (const delivery of taken) add(delivery);
    }
    open += claimed;
    return claimed;
  }

  function add(delivery: Delivery): void {
    const id = String(delivery.endpoint);
    if (lanes.isFull(id)) waiting.set(id, [...(waiting.get(id) ?? []), delivery]);
    else begin(delivery);
  }

  function begin(delivery: Delivery): void {
    lanes.begin(String(delivery.endpoint));
    // One thread does the work of all attempts, one after the other.
    idleAt = Math.max(idleAt, agenda.now()) + cpuMs;
    agenda.after(idleAt - agenda.now(), () => {
      tally.begun(delivery.endpoint, agenda.now());
      const answer = answerOf(plan, delivery.endpoint, agenda.now());
      agenda.after(answer.tookMs, () => end(delivery, answer));
    });
  }

  function end(delivery: Delivery, { ok, answered, tookMs }: ReturnType<typeof answerOf>): void {
    const { endpoint, publishedAt, attempt } = delivery;
    const [id, now] = [String(endpoint), agenda.now()];
    tally.ended(endpoint, now);
    lanes.end(id, answered ? tookMs : null);
    const delay = delaysMs[attempt - 1];
    if (ok) tally.delivered(endpoint, publishedAt, now);
    else if (delay === undefined) tally.dropped(now);
    else outbox.retry({ ...delivery, dueAt: now + delay, attempt: attempt + 1 });
    results += 1;
    const queue = waiting.get(id) ?? [];
    while (lanes.isProven(id) && !lanes.isFull(id)) {
      const next = queue.shift();
      if (next === undefined) break;
      begin(next);
    }
    const handedBack = lanes.isProven(id) ? [] : queue.splice(0);
    outbox.handBack(handedBack);
    results += handedBack.length;
    write();
  }

  function write(): void {
    if (is.writing || results === 0) return;
    is.writing = true;
    const written = results;
    results = 0;
    if (lanes.hasSlots()) claim();
    agenda.after(roundMs, () => {
      open -= written;
      is.writing = false;
      if (results > 0) write();
      else if (is.full) claim();
    });
  }

  function poll(): void {
    claim();
    // It waits from the end of the claim on.
    agenda.after(roundMs, () => agenda.after(pace.wait(), poll));
  }
  poll();
}

/** Lets a plan happen. */
export function simulate(plan: Plan): Report {
  const [agenda, tally] = [createAgenda(), createTally(plan)];
  const outbox = createOutbox(plan, tally);
  for (let started = 0; started < plan.workers; started += 1) startWorker(plan, agenda, outbox, tally);
  while (agenda.proceed(plan.untilMs));
  return tally.report();
}
