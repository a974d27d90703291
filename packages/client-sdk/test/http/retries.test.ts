import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { RateLimitError, type RequestOptions, ServerError } from '../../src/index.ts';
import { answer, type Fault, fakeKey, hang, hangBody, refusal, resetBefore } from '../support/faulty.ts';
import { against, clientOf, failureOf, payment } from '../support/partner.ts';

const limited = (value: string, more: Record<string, string> = {}) =>
  refusal(429, 'rate_limit_exceeded', { 'retry-after': value, ...more });
const down = refusal(503, 'internal_error');

const date = (seconds: number): string => new Date(seconds * 1000).toUTCString();

type Options = Parameters<typeof against>[1];

describe('a call that fails', () => {
  it.each<readonly [string, readonly Fault[], Options, readonly number[]]>([
    [
      'after growing pauses, with full jitter',
      Array(6).fill(down),
      { maxRetries: 6, random: () => 1 },
      [500, 1_000, 2_000, 4_000, 8_000, 8_000],
    ],
    ['after a part of a pause', [down], { random: () => 0.5 }, [250]],
    ['after the seconds that the server asks for', [limited('7')], {}, [7_000]],
    ['after the fraction of a second that a proxy asks for', [limited('1.5')], {}, [1_500]],
    ['at its date, by its clock', [limited(date(1_000_030), { date: date(1_000_000) })], {}, [30_000]],
    ['at once when that is over', [limited(date(1_000_000), { date: date(1_000_030) })], {}, [0]],
    ['at once when it asks for nonsense', [limited('soon')], {}, [0]],
    [
      'with jitter on top, so that not everybody is back at once',
      [limited('2')],
      { random: () => 1 },
      [2_500],
    ],
  ])('is tried again %s', async (_name, faults, options, expected) => {
    const { ostiary, pauses, seen } = await against([...faults], options);
    await ostiary.whoami();
    expect(pauses).toEqual(expected);
    expect(seen).toHaveLength(expected.length + 1);
  });

  it.each<readonly [string, Fault, Options, RequestOptions]>([
    ['when maxRetries is 0', down, { maxRetries: 0 }, {}],
    ['when the call says so', down, { maxRetries: 5 }, { maxRetries: 0 }],
    ['after a minute and more: nobody waits that long', limited('61'), { totalTimeout: 2 ** 31 - 1 }, {}],
    ['after a time of eleven digits', limited('99999999999'), { totalTimeout: 2 ** 31 - 1 }, {}],
    ['after a time that is none', limited('999999999'), { totalTimeout: 2 ** 31 - 1 }, {}],
    ['when the time for the call ends before', limited('5'), { totalTimeout: 4_000 }, {}],
  ])('is not tried again %s', async (_name, fault, options, call) => {
    const { ostiary, pauses, seen } = await against([fault], options);
    const error = await failureOf(ostiary.whoami(call));
    expect(error).toBeInstanceOf(fault === down ? ServerError : RateLimitError);
    expect(error).toMatchObject({ retryable: true, attempts: 1 });
    expect(pauses).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  it('reports the Retry-After of the server', async () => {
    const { ostiary } = await against([limited('3600')]);
    expect(await failureOf(ostiary.whoami())).toMatchObject({ retryAfter: 3_600_000 });
  });
});

describe('an operation', () => {
  it.each([400, 401, 403, 404, 409, 413, 422])('with %i is not retried', async (status) => {
    const { ostiary, seen } = await against([refusal(status, 'invalid_request')]);
    const error = await failureOf(ostiary.payments.create(payment));
    expect(error).toMatchObject({ status, retryable: false, requestId: 'req-1' });
    expect(seen).toHaveLength(1);
  });

  it('is retried with every method, since each call is safe to repeat', async () => {
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
    // The first four calls have no key; the others send theirs twice.
    expect(keys.slice(0, 8)).toEqual(Array(8).fill(undefined));
    for (let index = 8; index < 14; index += 2) {
      expect(keys[index]).toMatch(/^[0-9a-f]{64}$/);
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

  it('apply to a call with all its attempts', async () => {
    const { ostiary } = await against([hangBody()], { timeout: 20_000, totalTimeout: 200 });
    const error = await failureOf(ostiary.whoami());
    expect(error).toMatchObject({ name: 'TimeoutError', code: 'timeout', attempts: 1 });
    expect(error.message).toContain('totalTimeout');
  });

  it('apply even if fetch ignores its signal', async () => {
    const deaf = async () => new Promise<never>(() => {});
    const { ostiary } = clientOf('https://api.example', fakeKey, { fetch: deaf, timeout: 50, maxRetries: 1 });
    expect(await failureOf(ostiary.whoami())).toMatchObject({ name: 'TimeoutError', attempts: 2 });
  });
});

describe('a long-lived signal', () => {
  it('collects no listeners', async () => {
    const { ostiary } = await against([down, down]);
    const { signal } = new AbortController();
    for (let round = 0; round < 20; round += 1) await ostiary.whoami({ signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
