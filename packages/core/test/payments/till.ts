import { expect } from 'vitest';
import { shop } from '../partner/webhook-shop.ts';
import { hostMetrics } from '../support/metrics.ts';
import { payment } from '../support/partner-api.ts';
import type { Json } from '../support/provider.ts';

/**
 * Starts a provider with a partner that pays over a rail controlled by a test. Returns the related events, the
 * host application's metrics, and the log.
 */
export async function till() {
  const given = await shop({}, 'live');
  const { provider, key, call, list, work } = given;
  // Registered after Ostiary was created, as hosts may do.
  const told = hostMetrics();
  // Let the first purge run now: the next one is in ten minutes.
  await work();
  return {
    ...{ ...given, settle: provider.ostiary.payments.settle },
    async pay(body: object = payment, by = key): Promise<string> {
      const answer = await call('POST /v1/partner/payments', body, by);
      expect(answer.status).toBe(201);
      return String(answer.json().id);
    },
    show: async (id: string, by = key): Promise<Json> =>
      (await call(`GET /v1/partner/payments/${id}`, undefined, by)).json(),
    events: () => list('/v1/partner/events?limit=100'),
    async later(ms: number): Promise<number> {
      provider.clock.advance(ms);
      return work();
    },
    /**
     * Returns the count of unknown outcomes in the host application's metrics. The metric has no attribute
     * that could identify a user.
     */
    async unknown() {
      const [point, ...more] = await told();
      const name = 'ostiary.payments.execution.unknown';
      const { count, ...rest } = point ?? { name, attributes: {}, count: 0 };
      expect([rest, more]).toEqual([{ name, attributes: {} }, []]);
      return count;
    },
    /** Reads the host application's metrics of payments. */
    metrics: told,
    lines: () => provider.logged.filter(({ message }) => message.includes('tried again')),
  };
}
