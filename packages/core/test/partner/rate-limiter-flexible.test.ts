import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it } from 'vitest';
import { rateLimiterFlexible } from '../../src/index.ts';
import { partnerProvider } from '../support/partner-api.ts';

const look = 'GET /v1/partner/users/KID-ANA';

describe('a store of rate-limiter-flexible', () => {
  it('counts exactly, and says when the window ends', async () => {
    const made: (readonly [number, number])[] = [];
    const store = rateLimiterFlexible((points, duration) => {
      made.push([points, duration]);
      return new RateLimiterMemory({ points, duration });
    });
    const { provider } = await partnerProvider({
      partnerLimits: { store, users: { requests: 20, windowSeconds: 30 } },
    });
    const [key, other] = [await provider.key(), await provider.key()];
    const answers = await Promise.all(Array.from({ length: 25 }, () => provider.partnerCall(key, look)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    for (const { headers } of refused) {
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
      const wait = Number(headers.get('x-ratelimit-reset')) - provider.clock.now() / 1000;
      expect(wait).toBeGreaterThan(20);
      expect(wait).toBeLessThanOrEqual(31);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(30);
    }
    expect((await provider.partnerCall(other, look)).headers.get('x-ratelimit-remaining')).toBe('19');
    expect(made).toEqual([[20, 30]]);
  });

  it('that cannot be reached is 503, and lets nobody through', async () => {
    const store = rateLimiterFlexible(() => ({
      consume: () => Promise.reject(new Error('ECONNREFUSED 10.0.0.7')),
    }));
    const { provider } = await partnerProvider({ partnerLimits: { store } });
    const answer = await provider.partnerCall(await provider.key(), look);
    expect([answer.status, answer.json().code, answer.headers.get('retry-after')]).toEqual([
      503,
      'internal_error',
      '1',
    ]);
    expect(answer.text).not.toContain('10.0.0.7');
  });

  it('does not count what it refuses', async () => {
    const store = rateLimiterFlexible((points, duration) => new RateLimiterMemory({ points, duration }));
    const consume = () => store.consume({ bucket: 'b', limit: 2, windowMs: 60_000, now: 1_000 });
    const states = [await consume(), await consume(), await consume(), await consume()];
    expect(states.map(({ allowed, count }) => [allowed, count])).toEqual([
      [true, 1],
      [true, 2],
      [false, 2],
      [false, 2],
    ]);
    for (const { endsAt } of states) expect(endsAt).toBeLessThanOrEqual(61_000);
  });
});
