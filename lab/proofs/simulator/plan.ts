import { seeded } from '../../support/arguments.ts';

/** An endpoint, and what is published for it. */
interface Endpoint {
  readonly perSecond: number;
  /** How long it takes to answer, in milliseconds. */
  readonly serviceMs: number;
}

/** What is simulated. The first endpoint is the one that dies. */
export interface Plan {
  readonly endpoints: readonly Endpoint[];
  readonly workers: number;
  /** Attempts under way in each worker at most, as the option `webhooks.concurrency`. */
  readonly concurrency: number;
  readonly delaysMs: readonly number[];
  /** When the first endpoint dies and comes back; `refuses` is a 503 at once, `hangs` no answer at all. */
  readonly outage: { readonly fromMs: number; readonly toMs: number; readonly kind: 'refuses' | 'hangs' };
  /** Processor time of a worker for each attempt, in milliseconds. */
  readonly cpuMs: number;
  /** How long the database takes for a claim, and for a write of results, in milliseconds. */
  readonly roundMs: number;
  readonly untilMs: number;
  readonly seed: number;
}

/** An attempt has so long to be answered. */
const timeoutMs = 10_000;
/** When events of an endpoint are published: at random, at its rate, always the same for a seed. In whole milliseconds. */
export function* arrivalsOf({ endpoints, seed }: Plan, endpoint: number): Generator<number, never> {
  const random = seeded(seed + endpoint);
  const perMs = (endpoints[endpoint]?.perSecond ?? 0) / 1_000;
  for (let at = 0; ; ) {
    at += -Math.log(1 - random()) / perMs;
    yield Math.ceil(at);
  }
}

/** What becomes of an attempt that begins at a moment. */
export function answerOf({ endpoints, outage }: Plan, endpoint: number, at: number) {
  const tookMs = endpoints[endpoint]?.serviceMs ?? 0;
  const isDead = endpoint === 0 && at >= outage.fromMs && at < outage.toMs;
  if (!isDead) return { ok: true, answered: true, tookMs };
  return outage.kind === 'refuses'
    ? { ok: false, answered: true, tookMs }
    : { ok: false, answered: false, tookMs: timeoutMs };
}
