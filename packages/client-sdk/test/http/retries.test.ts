import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { RateLimitError, ServerError } from '../../src/index.ts';
import { answer, type Fault, fakeKey, hang, hangBody, refusal, resetBefore } from '../support/faulty.ts';
import { against, clientOf, failureOf, payment } from '../support/partner.ts';

const limited = (value: string, more: Record<string, string> = {}) =>
  refusal(429, 'rate_limit_exceeded', { 'retry-after': value, ...more });
const down = refusal(503, 'internal_error');

describe('a call that fails', () => {
  it('is tried again after growing pauses with full jitter', async () => {
    const { ostiary, pauses, seen } = await against(Array(6).fill(down), { maxRetries: 6, random: () => 1 });
    await ostiary.whoami();
    expect(seen).toHaveLength(7);
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    const half = await against([down], { random: () => 0.5 });
    await half.ostiary.whoami();
    expect(half.pauses).toEqual([250]);
  });

  it('is not tried again when maxRetries is 0, or the call says so', async () => {
    const never = await against([down], { maxRetries: 0 });
    expect(await failureOf(never.ostiary.whoami())).toBeInstanceOf(ServerError);
    expect(never.seen).toHaveLength(1);
    const once = await against([down], { maxRetries: 5 });
    await failureOf(once.ostiary.whoami({ maxRetries: 0 }));
    expect(once.seen).toHaveLength(1);
  });

  it.each([
    ['seconds', limited('7'), 7_000],
    ['a date, by the server’s clock', limited(date(1_000_030), { date: date(1_000_000) }), 30_000],
    ['a date that is over', limited(date(1_000_000), { date: date(1_000_030) }), 0],
    ['nonsense', limited('soon'), 0],
  ])('waits as long as the server asks, in %s', async (_name, fault, pause) => {
    const { ostiary, pauses } = await against([fault]);
    await ostiary.whoami();
    expect(pauses).toEqual([pause]);
  });

  it('adds jitter to what the server asks, so that not everybody is back at once', async () => {
    const { ostiary, pauses } = await against([limited('2')], { random: () => 1 });
    await ostiary.whoami();
    expect(pauses).toEqual([2_500]);
  });

  it.each(['61', '3600', '999999999'])(
    'is not tried again after %s s: nobody waits that long',
    async (seconds) => {
      const { ostiary, pauses } = await against([limited(seconds)], { totalTimeout: 2 ** 31 - 1 });
      const error = await failureOf(ostiary.whoami());
      expect(error).toBeInstanceOf(RateLimitError);
      expect(error).toMatchObject({ retryAfter: Number(seconds) * 1000, retryable: true, attempts: 1 });
      expect(pauses).toEqual([]);
    },
  );

  it('is not tried again when the time for the call ends before', async () => {
    const { ostiary, pauses } = await against([limited('5')], { totalTimeout: 4_000 });
    expect(await failureOf(ostiary.whoami())).toBeInstanceOf(RateLimitError);
    expect(pauses).toEqual([]);
  });
});

describe('an operation', () => {
  it.each([400, 401, 403, 404, 409, 413, 422])('with %i is not tried again', async (status) => {
    const { ostiary, seen } = await against([refusal(status, 'invalid_request')]);
    const error = await failureOf(ostiary.payments.create(payment));
    expect(error).toMatchObject({ status, retryable: false, requestId: 'req-1' });
    expect(seen).toHaveLength(1);
  });

  it('is tried again whatever its method is, since each is safe to repeat', async () => {
    const id = `we_${'0'.repeat(32)}`;
    const faults: Fault[] = [];
    const { seen, ostiary } = await against(faults);
    const calls: readonly (() => PromiseLike<unknown>)[] = [
      () => ostiary.passports.verify({ token: 't' }),
      () => ostiary.sandbox.createPassport(),
      () => ostiary.webhooks.update(id, { enabled: true }),
      () => ostiary.webhooks.delete(id),
      () => ostiary.webhooks.recover(id, { since: new Date(0) }),
      () => ostiary.events.redeliver(id),
      () => ostiary.sandbox.triggerEvent({ type: 'webhook.test' }),
    ];
    for (const call of calls) {
      faults.push(resetBefore);
      await call();
    }
    expect(seen).toHaveLength(14);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    // The first four need none; the others send theirs twice.
    expect(keys.slice(0, 8)).toEqual(Array(8).fill(undefined));
    for (let index = 8; index < 14; index += 2) {
      expect(keys[index]).toMatch(/^[0-9a-f-]{36}$/);
      expect(keys[index + 1]).toBe(keys[index]);
    }
    expect(new Set(keys.slice(8)).size).toBe(3);
  });

  it('takes the caller’s idempotency key', async () => {
    const { ostiary, seen } = await against([down]);
    await ostiary.payments.create(payment, { idempotencyKey: 'order 1017' });
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['order 1017', 'order 1017']);
  });
});

function date(seconds: number): string {
  return new Date(seconds * 1000).toUTCString();
}

describe('time-outs', () => {
  it.each([
    ['no answer', hang],
    ['half an answer', hangBody()],
    ['half an error', hangBody(500)],
  ])('end an attempt with %s, and the next one may do better', async (_name, fault) => {
    const { ostiary, seen } = await against([fault, answer(200, { partner: 'acme' })], { timeout: 300 });
    expect(await ostiary.whoami()).toEqual({ partner: 'acme' });
    expect(seen).toHaveLength(2);
  });

  it('end a call as a whole', async () => {
    const { ostiary } = await against([hangBody()], { timeout: 20_000, totalTimeout: 200 });
    const error = await failureOf(ostiary.whoami());
    expect(error).toMatchObject({ name: 'TimeoutError', code: 'timeout', attempts: 1 });
    expect(error.message).toContain('totalTimeout');
  });

  it('hold even where fetch does not listen to its signal', async () => {
    const deaf = async () => new Promise<never>(() => {});
    const { ostiary } = clientOf('https://api.example', fakeKey, { fetch: deaf, timeout: 50, maxRetries: 1 });
    expect(await failureOf(ostiary.whoami())).toMatchObject({ name: 'TimeoutError', attempts: 2 });
  });
});

describe('a signal that lives long', () => {
  it('collects no listeners', async () => {
    const { ostiary } = await against([down, down]);
    const { signal } = new AbortController();
    for (let round = 0; round < 20; round += 1) await ostiary.whoami({ signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
