import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { fixedWindows } from '../../src/fixed-windows.ts';
import type { UserRecord } from '../../src/index.ts';
import type { RateLimitStore, Storage } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { Host } from '../support/directory.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';

const pay = 'POST /v1/partner/payments';

/** A host whose directory answers when a test lets it, and a count of the requests that have come so far. */
async function slowShop() {
  const host = new Host();
  const lookups: PromiseWithResolvers<UserRecord | null>[] = [];
  const limits = fixedWindows();
  let counted = 0;
  const store: RateLimitStore = {
    consume(request) {
      counted += 1;
      return limits.consume(request);
    },
  };
  const findByKid = () => {
    const lookup = Promise.withResolvers<UserRecord | null>();
    lookups.push(lookup);
    return lookup.promise;
  };
  const { provider } = await partnerProvider(
    { users: { ...host.users, findByKid }, partnerLimits: { store } },
    host,
  );
  const key = await provider.key();
  const send = (idempotencyKey: string, body: object = payment, by: TestKey = key): Promise<Answer> =>
    provider.partnerCall(by, pay, body, { 'idempotency-key': idempotencyKey });
  /** Waits until so many requests have passed the limiter, and for whatever they do at once then. */
  const arrived = async (count: number) => {
    await vi.waitFor(() => expect(counted).toBe(count), patient);
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
    expect(lookups).toHaveLength(1);
    answerLookup(0);
    expect(brief(await first)).toEqual([201, null]);
    for (const other of others) {
      expect(brief(await other)).toEqual([201, 'true']);
      expect((await other).text).toBe((await first).text);
    }
    expect(lookups).toHaveLength(1);
    expect(await transfers()).toBe(1);
  });

  it('waits five seconds and no longer: 503 with Retry-After, and nothing has changed', async ({
    onTestFinished: finished,
  }) => {
    const { lookups, send, arrived, answerLookup, transfers } = await slowShop();
    const first = send('k');
    await arrived(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const timers = vi.spyOn(globalThis, 'setTimeout');
    finished(() => {
      timers.mockRestore();
      vi.useRealTimers();
    });
    let refused: Answer | null = null;
    void send('k').then((answer) => {
      refused = answer;
    });
    while (!timers.mock.calls.some(([, ms]) => ms === 5_000)) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(4_999);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(refused).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    timers.mockRestore();
    vi.useRealTimers();
    const answer = await vi.waitFor(() => refused ?? Promise.reject(new Error('no answer yet')), patient);
    expect([answer.status, answer.json().code, answer.headers.get('retry-after')]).toEqual([
      503,
      'internal_error',
      '1',
    ]);
    expect(answer.json().message).toContain('Idempotency-Key');
    // The one in front is still there: whoever comes now waits for it too.
    const third = send('k');
    await arrived(3);
    expect(lookups).toHaveLength(1);
    answerLookup(0);
    expect([brief(await first), brief(await third)]).toEqual([
      [201, null],
      [201, 'true'],
    ]);
    expect(await transfers()).toBe(1);
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
    const [stranger, sandbox] = [
      await provider.key(),
      await provider.key({ partner: key.partner, mode: 'test' }),
    ];
    const inSandbox = { ...payment, recipient: { kid: 'KID-TEST-APPROVED' } };
    expect(brief(await send('k', inSandbox, sandbox))).toEqual([201, null]);
    const others = [send('other'), send('k', payment, stranger), provider.partnerCall(key, pay, payment)];
    await arrived(5);
    expect(lookups).toHaveLength(4);
    for (const index of [1, 2, 3]) answerLookup(index);
    for (const other of others) expect(brief(await other)).toEqual([201, null]);
    answerLookup(0);
    expect(brief(await first)).toEqual([201, null]);
  });
});

describe('a request whose Idempotency-Key another process is working on', () => {
  /** A storage that does not know for so many calls what becomes of the other request. */
  async function busyShop(calls: number) {
    const inner = memoryStorage();
    const asked = { times: 0 };
    const storage: Storage = {
      ...inner,
      transfers: {
        ...inner.transfers,
        async create(request) {
          asked.times += 1;
          return asked.times <= calls ? { outcome: 'in_progress' } : inner.transfers.create(request);
        },
      },
    };
    const { provider } = await partnerProvider({ storage });
    const key = await provider.key();
    const send = () => provider.partnerCall(key, pay, payment, { 'idempotency-key': 'k' });
    return { asked, send };
  }

  it('asks the storage again until that knows', async () => {
    const { asked, send } = await busyShop(3);
    expect(brief(await send())).toEqual([201, null]);
    expect(asked.times).toBe(4);
    expect(brief(await send())).toEqual([201, 'true']);
  });

  it('is 503 with Retry-After when that takes too long', async () => {
    const { asked, send } = await busyShop(Number.POSITIVE_INFINITY);
    const started = performance.now();
    const refused = await send();
    expect([refused.status, refused.headers.get('retry-after'), refused.json().code]).toEqual([
      503,
      '1',
      'internal_error',
    ]);
    expect(performance.now() - started).toBeGreaterThan(3_400);
    expect(asked.times).toBeGreaterThan(2);
  });
});
