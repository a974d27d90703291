import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it } from 'vitest';
import { rateLimiterFlexible } from '../../../src/index.ts';
import { fixedWindows } from '../../../src/limits/fixed-windows.ts';
import type { Answer } from '../../support/browser.ts';
import { Host } from '../../support/directory.ts';
import { fragileStorage } from '../../support/fragile-storage.ts';
import { partnerProvider } from '../../support/partner-api.ts';
import type { TestKey, TestProvider } from '../../support/provider.ts';

const look = 'GET /v1/partner/users/KID-ANA';
const inTest = 'GET /v1/partner/users/KID-TEST-APPROVED';

const header = (answer: Answer, name: string) => Number(answer.headers.get(name) ?? Number.NaN);
const limitsOf = (answer: Answer) =>
  [...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit'));
const two = { requests: 2, windowSeconds: 60 };
const statuses = async (provider: TestProvider, ...keys: readonly (TestKey | string)[]) => {
  const found: number[] = [];
  for (const key of keys) found.push((await provider.partnerCall(key, look)).status);
  return found;
};

describe('rate limits', () => {
  it('are exact: of so many and one parallel requests one is refused, and counts nothing', async () => {
    const users = { requests: 20, windowSeconds: 30 };
    const { provider } = await partnerProvider({ partnerLimits: { users } });
    const key = await provider.key();
    const ask = () => provider.partnerCall(key, look);
    const answers = await Promise.all(Array.from({ length: 21 }, ask));
    const reset = Math.ceil((provider.clock.now() + 30_000) / 1000);
    for (const answer of answers) expect(header(answer, 'x-ratelimit-reset')).toBe(reset);
    const passed = answers.filter(({ status }) => status === 200);
    const left = passed.map((answer) => header(answer, 'x-ratelimit-remaining'));
    expect(left.sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
    const [refused] = answers.filter(({ status }) => status === 429);
    expect(refused?.json().code).toBe('rate_limit_exceeded');
    const headers = { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0', 'retry-after': '30' };
    expect(Object.fromEntries(refused?.headers ?? [])).toMatchObject(headers);
    // A refused request does not extend the window.
    provider.clock.advance(29_999);
    const late = await ask();
    const said = ['retry-after', 'x-ratelimit-reset'].map((name) => header(late, name));
    expect([late.status, ...said]).toEqual([429, 1, reset]);
    provider.clock.advance(1);
    const fresh = await ask();
    expect([fresh.status, header(fresh, 'x-ratelimit-remaining')]).toEqual([200, 19]);
  });

  it('are counted per key, and one group does not eat from another', async () => {
    const { provider } = await partnerProvider({ partnerLimits: { users: two, other: two } });
    const first = await provider.key();
    const second = await provider.key({ partner: first.partner });
    expect(await statuses(provider, first, first, first, second)).toEqual([200, 200, 429, 200]);
    // All other operations share one limit.
    const list = '/v1/partner/payments';
    const found: number[] = [];
    for (const path of [list, `${list}/tr_${'0'.repeat(32)}`, list, `${list}/tr_${'0'.repeat(32)}`])
      found.push((await provider.partnerCall(first, `GET ${path}`)).status);
    expect(found).toEqual([200, 404, 429, 429]);
  });

  it('are shared by a rolled key and its successors, or by all keys of a partner in one mode', async () => {
    const { provider } = await partnerProvider({ partnerLimits: { users: two } });
    const { roll } = provider.ostiary.admin.apiKeys;
    const old = await provider.key();
    const next = await roll(old.id);
    const last = await roll(next.apiKey.id);
    expect(await statuses(provider, old, next.key, last.key, old)).toEqual([200, 200, 429, 429]);

    const { provider: shared } = await partnerProvider({ partnerLimits: { users: two, per: 'partner' } });
    const first = await shared.key();
    const second = await shared.key({ partner: first.partner });
    const found = await statuses(shared, first, second, first, second, await shared.key());
    expect(found).toEqual([200, 200, 429, 429, 200]);
    const sandbox = await shared.key({ partner: first.partner, mode: 'test' });
    expect((await shared.partnerCall(sandbox, inTest)).status).toBe(200);
  });

  it('are not eaten by strangers, nor by requests that did not reach them', async () => {
    const { provider } = await partnerProvider({ partnerLimits: { users: two } });
    const key = await provider.key();
    const { partner } = key;
    const typo = `${key.key.slice(0, -1)}${key.key.endsWith('0') ? '1' : '0'}`;
    const powerless = await provider.key({ partner, scopes: ['webhooks'] });
    const elsewhere = await provider.key({ partner, allowlist: ['192.0.2.1'] });
    for (let round = 0; round < 5; round += 1) {
      for (const refused of [typo, 'nonsense', powerless, elsewhere]) {
        const answer = await provider.partnerCall(refused, look);
        expect([401, 403]).toContain(answer.status);
        expect(limitsOf(answer)).toEqual([]);
      }
    }
    expect(await statuses(provider, key, key, key)).toEqual([200, 200, 429]);
  });

  it('count failed look-ups, and above the limit neither the host nor the storage is called', async () => {
    const host = new Host();
    const asked: string[] = [];
    const users = {
      ...host.users,
      findByKid: (kid: string) => {
        asked.push(kid);
        return host.users.findByKid?.(kid) ?? null;
      },
    };
    const limits = { users: { requests: 3, windowSeconds: 60 } };
    const { provider, database } = await partnerProvider({ users, partnerLimits: limits }, host);
    const key = await provider.key();
    const status = async (path: string) =>
      (await provider.partnerCall(key, `GET /v1/partner/users/${path}`)).status;
    const paths = ['nobody', 'phone/x', 'KID-ANA', 'KID-ANA', 'KID-ANA', 'nobody', 'phone/x'];
    const found: number[] = [];
    for (const path of paths) found.push(await status(path));
    expect(found).toEqual([404, 400, 200, 429, 429, 429, 429]);
    expect(asked).toEqual(['nobody', 'KID-ANA']);
    database.forget();
    expect(await status('KID-ANA')).toBe(429);
    expect(database.calls).toEqual(['apiKeys.isLive']);
    await provider.ostiary.admin.apiKeys.revoke(key.id);
    expect(await status('KID-ANA')).toBe(401);
  });

  it('headers are on every answer that reached the limiter, errors too', async () => {
    const { provider, database } = await partnerProvider();
    const key = await provider.key();
    const pay = 'POST /v1/partner/payments';
    database.breakWhen((call) => call === 'transfers.list');
    for (const [status, target, body, headers] of [
      [404, 'GET /v1/partner/users/nobody'],
      [400, pay, {}],
      [401, pay, {}, { 'x-svc-signature': 'x' }],
      [415, pay, '{}', { 'content-type': 'text/plain' }],
      [503, 'GET /v1/partner/payments'],
    ] as const) {
      const answer = await provider.partnerCall(key, target, body, headers);
      const all = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
      expect([answer.status, limitsOf(answer)]).toEqual([status, all]);
    }
    expect(limitsOf(await provider.partnerCall(key, 'GET /v1/partner/nothing'))).toEqual([]);
  });
});

describe('the store of the counts', () => {
  const sealingKeys = [randomBytes(32)];

  it('is shared by all processes on a storage that shares counts, and a failing one is 503', async () => {
    const database = fragileStorage();
    const options = { storage: database.storage, partnerLimits: { users: two }, sealingKeys };
    const { provider } = await partnerProvider(options);
    const key = await provider.key();
    const { provider: other } = await partnerProvider({ ...options, clock: provider.clock }, provider.host);
    expect(await statuses(provider, key)).toEqual([200]);
    expect(await statuses(other, key, key)).toEqual([200, 429]);
    expect(await statuses(provider, key)).toEqual([429]);
    const fresh = await provider.key();
    database.breakWhen((call) => call === 'rateLimits.consume');
    const refused = await provider.partnerCall(fresh, look);
    expect([refused.outcome, refused.headers.get('retry-after')]).toEqual(['503 internal_error', '1']);
  });

  it('is one per process on any other storage, or the host’s', async () => {
    const options = { storage: memoryStorage(), partnerLimits: { users: two }, sealingKeys };
    const { provider } = await partnerProvider(options);
    const key = await provider.key();
    const { provider: other } = await partnerProvider({ ...options, clock: provider.clock }, provider.host);
    for (const process of [provider, other])
      expect(await statuses(process, key, key, key)).toEqual([200, 200, 429]);

    const partnerLimits = { store: fixedWindows(), users: two };
    const { provider: third, database } = await partnerProvider({ partnerLimits });
    database.forget();
    expect(await statuses(third, ...Array(3).fill(await third.key()))).toEqual([200, 200, 429]);
    expect(database.calls.filter((call) => call.startsWith('rateLimits'))).toEqual([]);
  });

  it('of rate-limiter-flexible counts exactly, and says when the window ends', async () => {
    const made: (readonly [number, number])[] = [];
    const store = rateLimiterFlexible((points, duration) => {
      made.push([points, duration]);
      return new RateLimiterMemory({ points, duration });
    });
    const users = { requests: 20, windowSeconds: 30 };
    const { provider } = await partnerProvider({ partnerLimits: { store, users } });
    const [key, other] = [await provider.key(), await provider.key()];
    const answers = await Promise.all(Array.from({ length: 25 }, () => provider.partnerCall(key, look)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    for (const answer of refused) {
      expect(header(answer, 'x-ratelimit-remaining')).toBe(0);
      const wait = header(answer, 'x-ratelimit-reset') - provider.clock.now() / 1000;
      expect([wait > 20, wait <= 31, header(answer, 'retry-after') <= 30]).toEqual([true, true, true]);
    }
    expect(header(await provider.partnerCall(other, look), 'x-ratelimit-remaining')).toBe(19);
    expect(made).toEqual([[20, 30]]);
    // Refused requests are not counted.
    const states: unknown[] = [];
    for (let request = 0; request < 4; request += 1) {
      const { allowed, count } = await store.consume({ bucket: 'b', limit: 2, windowMs: 60_000, now: 1_000 });
      states.push([allowed, count]);
    }
    expect(states).toEqual([
      [true, 1],
      [true, 2],
      [false, 2],
      [false, 2],
    ]);
  });

  it('of rate-limiter-flexible refuses all requests while it is unreachable', async () => {
    const fail = () => Promise.reject(new Error('ECONNREFUSED 10.0.0.7'));
    const { provider } = await partnerProvider({
      partnerLimits: { store: rateLimiterFlexible(() => ({ consume: fail, get: fail })) },
    });
    const answer = await provider.partnerCall(await provider.key(), look);
    expect([answer.outcome, answer.headers.get('retry-after')]).toEqual(['503 internal_error', '1']);
    expect(answer.text).not.toContain('10.0.0.7');
  });
});
