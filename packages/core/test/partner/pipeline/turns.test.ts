import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../../../lab/support/patient.ts';
import type { UserRecord } from '../../../src/index.ts';
import { createTurns } from '../../../src/partner/pipeline/turns.ts';
import type { Answer } from '../../support/browser.ts';
import { Host } from '../../support/directory.ts';
import { storageWith } from '../../support/fragile-storage.ts';
import { partnerProvider, payment, testPayment } from '../../support/partner-api.ts';
import type { TestKey } from '../../support/provider.ts';

const pay = 'POST /v1/partner/payments';

/**
 * Starts a host application whose user directory responds only when the test lets it. Also returns the look-ups
 * so far.
 */
async function slowShop() {
  const host = new Host();
  const lookups: PromiseWithResolvers<UserRecord | null>[] = [];
  const findByKid = () => {
    const lookup = Promise.withResolvers<UserRecord | null>();
    lookups.push(lookup);
    return lookup.promise;
  };
  const users = { ...host.users, findByKid };
  const { provider, database } = await partnerProvider({ users }, host);
  const key = await provider.key();
  const send = (idempotencyKey: string, body: object = payment, by: TestKey = key): Promise<Answer> =>
    provider.partnerCall(by, pay, body, { 'idempotency-key': idempotencyKey });
  /**
   * Waits until `count` requests have passed the rate limit, and have done the work that needs no waiting.
   */
  const arrived = async (count: number) => {
    const counted = () => database.calls.filter((call) => call === 'rateLimits.consume').length;
    await vi.waitFor(() => expect(counted()).toBe(count), patient);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  };
  const answerLookup = (index: number, user = host.people.get('user-ana') ?? null) =>
    lookups[index]?.resolve(user);
  const transfers = async () =>
    ((await provider.partnerCall(key, 'GET /v1/partner/payments')).json().data as unknown[]).length;
  return { provider, key, lookups, send, arrived, answerLookup, transfers };
}

const brief = (answer: Answer) => [answer.status, answer.headers.get('idempotent-replayed')];

describe('a request with the Idempotency-Key of one that is under way', () => {
  it('waits for it, and gets its answer', async () => {
    const { lookups, send, arrived, answerLookup, transfers } = await slowShop();
    const first = send('k');
    await arrived(1);
    const others = [send('k'), send('"k"')];
    await arrived(3);
    answerLookup(0);
    expect(brief(await first)).toEqual([201, null]);
    for (const other of others) {
      expect(brief(await other)).toEqual([201, 'true']);
      expect((await other).text).toBe((await first).text);
    }
    expect([lookups.length, await transfers()]).toEqual([1, 1]);
  });

  it('waits at most five seconds, and later requests wait for the first one, too', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const turns = createTurns();
    const exclusive = async (key: string, work: () => Promise<string>) => {
      const turn = await turns.take(key);
      return work().finally(turn.end);
    };
    const [front, work] = [Promise.withResolvers<string>(), vi.fn(async () => 'done')];
    const first = exclusive('k', () => front.promise);
    const ends: unknown[] = [];
    exclusive('k', work).catch((error: unknown) => ends.push(error));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toMatchObject([{ code: 'internal_error', status: 503 }]);
    const third = exclusive('k', work);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(work).not.toHaveBeenCalled();
    front.resolve('first');
    expect([await first, await third, work.mock.calls.length]).toEqual(['first', 'done', 1]);
  });

  it('with another payload is a conflict only if that one took effect', async () => {
    const { lookups, send, arrived, answerLookup, transfers } = await slowShop();
    const [refused, second] = [send('k'), arrived(1).then(() => send('k', { ...payment, amount: '1.00' }))];
    await arrived(2);
    answerLookup(0, null);
    expect((await refused).status).toBe(404);
    await vi.waitFor(() => expect(lookups).toHaveLength(2), patient);
    const third = send('k');
    await arrived(3);
    answerLookup(1);
    expect(brief(await second)).toEqual([201, null]);
    expect((await third).json().code).toBe('idempotency_conflict');
    expect(await transfers()).toBe(1);
  });

  it('waits for no other key, partner or mode, nor does one without a key', async () => {
    const { provider, key, lookups, send, arrived, answerLookup } = await slowShop();
    const first = send('k');
    await arrived(1);
    const sandbox = await provider.key({ partner: key.partner, mode: 'test' });
    expect(brief(await send('k', testPayment, sandbox))).toEqual([201, null]);
    const stranger = await provider.key();
    const others = [send('other'), send('k', payment, stranger), provider.partnerCall(key, pay, payment)];
    await arrived(5);
    expect(lookups).toHaveLength(4);
    for (const index of [1, 2, 3]) answerLookup(index);
    for (const other of others) expect(brief(await other)).toEqual([201, null]);
    answerLookup(0);
    expect(brief(await first)).toEqual([201, null]);
  });
});

const tellsOfTheKey = { code: 'internal_error', message: expect.stringContaining('Idempotency-Key') };

it.each([
  [3, 1, 201, null],
  [1_000, 1_500, 503, '1'],
])(
  'a storage that does not know %i times what another process does, each for %i ms: %i',
  async (calls, ms, status, retryAfter) => {
    const inner = memoryStorage();
    let [asked, passed] = [0, 0];
    const now = performance.now.bind(performance);
    const time = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed);
    onTestFinished(() => time.mockRestore());
    const storage = storageWith(inner, 'transfers', {
      async create(request) {
        asked += 1;
        passed += ms;
        return asked <= calls ? { outcome: 'in_progress' } : inner.transfers.create(request);
      },
    });
    const { provider } = await partnerProvider({ storage });
    const key = await provider.key();
    const answer = await provider.partnerCall(key, pay, payment, { 'idempotency-key': 'k' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
    // The last attempt starts early enough to end within the limit of five seconds.
    expect(asked).toBe(status === 201 ? 4 : 3);
    if (status === 503) expect(answer.json()).toMatchObject(tellsOfTheKey);
  },
);
