import { defaultOptions, type PaymentRail } from '@ostiary/core';
import type { AttemptAnswer, WebhookClient } from '../../../packages/core/src/webhooks/http-client.ts';
import type { World } from './world.ts';

/** Waits before each retry of a payment or delivery, in milliseconds. */
const waitsMs = {
  payment: [1_000, 2_000, 4_000, 8_000],
  delivery: defaultOptions.webhooks.retryDelaysSeconds.map((seconds) => seconds * 1000),
} as const;

/** Observation that the payment rail or the receiver made of one payment or delivery. */
interface Record {
  readonly kind: keyof typeof waitsMs;
  readonly id: string;
  /** Number of attempts at the payment or delivery that will still fail. */
  failuresLeft: number;
  failures: number;
  successes: number;
  /**
   * Start of the wait for the next attempt, in the simulated real time (`real` in world.ts), which does not
   * change with the clocks of the processes.
   */
  since: number;
  /**
   * True if an attempt was running while a clock was changed or a process was suspended, or began while one process followed
   * the change and the other one did not yet: for the process with the later time, leases of the other one have expired.
   */
  wasDisturbed: boolean;
}

/**
 * Tolerance for the start of an attempt after its wait, in milliseconds: the sum of a lease of 30 s, a
 * measurement of the clock, and a poll for work.
 */
const slackMs = 60_000;

/** The payment rail and the webhook receiver of a run. */
export type Outside = ReturnType<typeof createOutside>;

/**
 * Returns the latest permitted time of the next attempt. A change of a clock or a suspension of a process
 * restarts the wait for the attempt.
 */
function latest({ kind, failures, since }: Record, disturbedAt: number): number {
  const wait = failures === 0 ? 0 : (waitsMs[kind][failures - 1] ?? Number.POSITIVE_INFINITY);
  return Math.max(since, disturbedAt) + wait + slackMs;
}

/**
 * Simulates a payment rail and a webhook receiver that fail as planned, and records the attempts that they
 * observe.
 */
export function createOutside({ world, followed, isFollowed }: World, random: () => number) {
  const records = new Map<string, Record>();
  const problems = { late: [] as string[], old: [] as string[] };
  /** Running deliveries to which the receiver responds after some seconds. */
  const hanging = new Set<{ readonly until: number; readonly end: () => void; readonly record: Record }>();

  function recordOf(kind: Record['kind'], id: string, since = world.real): Record {
    const fresh = { kind, id, failuresLeft: Math.floor(random() * 4), failures: 0, successes: 0 };
    const record = records.get(id) ?? { ...fresh, since, wasDisturbed: false };
    records.set(id, record);
    return record;
  }

  function tried(record: Record): boolean {
    const lateMs = world.real - latest(record, world.disturbedAt);
    if (record.successes === 0 && lateMs > 0) problems.late.push(`${record.id} came ${lateMs} ms late`);
    record.since = world.real;
    record.wasDisturbed ||= !isFollowed();
    const isFailure = record.failuresLeft > 0;
    if (isFailure) {
      record.failuresLeft -= 1;
      record.failures += 1;
    } else record.successes += 1;
    return !isFailure;
  }

  const rail: PaymentRail = {
    async execute({ id }) {
      if (!tried(recordOf('payment', id))) throw new Error('the rail is away');
      return { status: 'completed' };
    },
  };

  const client: WebhookClient = {
    post({ body, headers }) {
      const { id } = JSON.parse(Buffer.from(body).toString());
      const record = recordOf('delivery', id);
      const signedAt = Number(headers['X-SVC-Timestamp']) * 1_000;
      // A process follows a changed database clock within ten seconds, give or take two.
      const isSettled = world.real - world.disturbedAt > 20_000;
      if (isSettled && Math.abs(signedAt - followed()) > 3_000)
        problems.old.push(`${id} was signed with a time that is ${followed() - signedAt} ms old`);
      const ok = tried(record);
      const answer: AttemptAnswer = {
        ...{ ok, httpStatus: ok ? 204 : 503, error: ok ? null : 'status', response: '', durationMs: 5 },
      };
      if (random() < 0.7) return Promise.resolve(answer);
      const until = world.real + 1_000 + random() * 8_000;
      return new Promise((resolve) => void hanging.add({ until, record, end: () => resolve(answer) }));
    },
    abort() {},
    async close() {},
  };

  return {
    random,
    rail,
    client,
    /** Records that the partner API accepted a payment, which the payment rail must then execute. */
    paid: (id: string): void => void recordOf('payment', id),
    /** Records that a clock was changed or a process suspended, after which running work may be repeated. */
    disturbed(): void {
      world.disturbedAt = world.real;
      for (const { record } of hanging) record.wasDisturbed = true;
    },
    isHanging: (): boolean => hanging.size > 0,
    /** Ends the running deliveries whose response is due. */
    proceed(): void {
      for (const attempt of hanging) {
        if (attempt.until > world.real) continue;
        hanging.delete(attempt);
        attempt.record.since = world.real;
        attempt.end();
      }
    },
    report() {
      const all = [...records.values()];
      const twice = all.filter(({ successes, wasDisturbed }) => successes > 1 && !wasDisturbed);
      return {
        ...problems,
        undone: all
          .filter(({ successes }) => successes === 0)
          .map(({ kind, id }) => `${kind} ${id} was not done`),
        twice: twice.map(({ kind, id, successes }) => `${kind} ${id} was done ${successes} times`),
        payments: all.filter(({ kind }) => kind === 'payment').length,
        deliveries: all.filter(({ kind }) => kind === 'delivery').length,
        repeated: all.filter(({ successes }) => successes > 1).length,
      };
    },
  };
}
