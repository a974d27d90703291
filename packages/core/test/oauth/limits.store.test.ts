import { memoryStorage } from '@ostiary/testing/memory';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type OstiaryOptions, rateLimiterFlexible } from '../../src/index.ts';
import { fixedWindows } from '../../src/limits/fixed-windows.ts';
import { Host } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

/**
 * Makes a store of rate limit counts with the library rate-limiter-flexible, in memory. The store fails while
 * `isDown` is true.
 */
function flexible() {
  const buckets = new Set<string>();
  const server = { isDown: false, buckets };
  const reach = async <T>(bucket: string, work: () => Promise<T>) => {
    if (server.isDown) throw new Error('ECONNREFUSED 10.0.0.7');
    buckets.add(bucket);
    return await work();
  };
  const store = rateLimiterFlexible((points, duration) => {
    const limiter = new RateLimiterMemory({ points, duration });
    return {
      consume: (bucket) => reach(bucket, () => limiter.consume(bucket)),
      get: (bucket) => reach(bucket, () => limiter.get(bucket)),
    };
  });
  return { server, store };
}

const address = '192.0.2.1';
const from = { 'x-forwarded-for': address };

/** Starts a provider with a limit store, and functions that send requests from an IP address. */
async function start(options: Partial<OstiaryOptions>, host = new Host()) {
  const provider = await startProvider({ trustedProxies: ['127.0.0.0/8'], ...options }, host);
  const client = await provider.client();
  const url = provider.authorizeUrl(client, { prompt: 'none' });
  const wrong = { client_id: 'nobody', client_secret: 'wrong', token: 'x' };
  return {
    ...{ provider, client, url },
    get: (target = url) => provider.request(target, { headers: from }),
    fail: (path = '/v1/oauth/token') => provider.call(path, { ...tokenRequest(client, 'x'), ...wrong }, from),
    redeem: (code: string) => provider.call('/v1/oauth/token', tokenRequest(client, code), from),
  };
}

const failures = (limit: number) => ({
  ...{ bucket: `client authentication:address:${address}`, limit, windowMs: 60_000, now: 1_000 },
});

describe('addresses that are counted in a store of the host’s', () => {
  it('are refused by all processes that share the store, with Retry-After', async () => {
    const { store, server } = flexible();
    const limits = { authorizeStarts: 2, failedClientAuthentications: 2, store };
    const database = fragileStorage();
    const one = await start({ storage: database.storage, limits, introspection: true });
    const two = await start({ storage: memoryStorage(), limits });
    for (const { get, fail } of [one, two])
      expect([(await get()).status, (await fail()).status]).toEqual([303, 401]);
    for (const { get, fail } of [one, two]) {
      for (const answer of [await get(), await fail()]) {
        expect(answer.outcome).toBe('429 slow_down');
        const wait = Number(answer.headers.get('retry-after'));
        expect([wait > 50, wait <= 60]).toEqual([true, true]);
      }
    }
    expect((await one.fail('/v1/oauth/introspect')).outcome).toBe('429 slow_down');
    expect([...server.buckets].sort()).toEqual([`authorize:address:${address}`, failures(2).bucket]);
    expect(database.calls.filter((call) => call.startsWith('rateLimits'))).toEqual([]);
  });

  it('are counted exactly, for any number of simultaneous ones', async () => {
    const { store } = flexible();
    const limits = { authorizeStarts: 10, failedClientAuthentications: 10, store };
    const [one, two] = [await start({ limits }), await start({ limits })];
    const hundred = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? one : two));
    const passed = (await Promise.all(hundred.map(({ get }) => get()))).map(({ status }) => status);
    expect([303, 429].map((status) => passed.filter((one) => one === status).length)).toEqual([10, 90]);
    const failed = (await Promise.all(hundred.map(({ fail }) => fail()))).map(({ status }) => status);
    expect(failed.filter((status) => status === 401).length).toBeGreaterThanOrEqual(10);
    expect(new Set([...failed, 429])).toEqual(new Set([401, 429]));
    expect(await store.peek([failures(10), failures(11)])).toMatchObject([
      { allowed: false, count: 10 },
      { allowed: true, count: 0 },
    ]);
    for (const { fail } of [one, two]) expect((await fail()).status).toBe(429);
  });

  it('are not counted for what goes right, and cost the storage nothing once they are refused', async () => {
    const { store } = flexible();
    const database = fragileStorage();
    const limits = { authorizeStarts: 1_000, failedClientAuthentications: 2, store };
    const { provider, client, redeem, fail } = await start({ storage: database.storage, limits });
    for (let time = 0; time < 3; time += 1)
      expect((await redeem(await provider.code(client))).outcome).toBe('200 ok');
    expect((await redeem('x')).outcome).toBe('400 invalid_grant');
    expect(await store.peek([failures(2)])).toEqual([{ allowed: true, count: 0, endsAt: 61_000 }]);
    for (const status of [401, 401]) expect((await fail()).status).toBe(status);
    database.forget();
    expect([(await redeem('x')).status, (await fail()).status, database.calls]).toEqual([429, 429, []]);
  });

  it('are let through nowhere while it cannot be reached, and nothing is exchanged', async () => {
    const { store, server } = flexible();
    const database = fragileStorage();
    const limits = { authorizeStarts: 1_000, failedClientAuthentications: 1_000, store };
    const host = new Host();
    const login = { ...host.login, signOut: () => undefined };
    const options = { storage: database.storage, limits, introspection: true, login };
    const { provider, client, get, fail, redeem, url } = await start(options, host);
    const code = await provider.code(client);
    server.isDown = true;
    database.forget();
    const resume = `${provider.site}/oauth/interaction/${'x'.repeat(43)}/resume`;
    for (const ask of [
      () => redeem(code),
      () => fail(),
      () => fail('/v1/oauth/introspect'),
      () => get(url),
      () => get(resume),
      () => get(`${provider.site}/oauth/logout`),
    ]) {
      const answer = await ask();
      expect([answer.outcome, answer.headers.get('retry-after'), answer.location]).toEqual([
        ...['503 temporarily_unavailable', '1', null],
      ]);
      expect(answer.text).not.toContain('10.0.0.7');
    }
    const page = await provider.request(url, { headers: { ...from, accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(database.calls).toEqual([]);
    server.isDown = false;
    expect((await redeem(code)).outcome).toBe('200 ok');
  });

  it('are not let wait for one that does not answer', async () => {
    const wait = () => new Promise<never>(() => undefined);
    const store = rateLimiterFlexible(() => ({ consume: wait, get: wait }));
    const { get, fail } = await start({ limits: { store } });
    for (const { outcome } of await Promise.all([get(), fail()]))
      expect(outcome).toBe('503 temporarily_unavailable');
  });

  it('that fail get 503 if they cannot be counted', async () => {
    const { store } = flexible();
    const consume = async () => {
      throw Object.assign(new Error('down'), { code: 'STORAGE_UNAVAILABLE' });
    };
    const { fail } = await start({ limits: { store: { peek: store.peek, consume } } });
    expect((await fail()).outcome).toBe('503 temporarily_unavailable');
  });
});

describe('stores of counts', () => {
  const { consume, peek } = fixedWindows();
  const refusal = (options: object) =>
    startProvider(options).then(
      () => 'none',
      ({ message }: TypeError) => message,
    );

  it('are refused at the start without the methods that are called', async () => {
    for (const store of [null, 'redis://localhost', {}, { consume }, { peek }, { consume, peek: 1 }])
      expect(await refusal({ limits: { store } })).toBe(
        'createOstiary: limits.store: must be an object with consume and peek',
      );
    for (const store of [null, {}, { peek }])
      expect(await refusal({ partnerLimits: { store } })).toBe(
        'createOstiary: partnerLimits.store: must be an object with consume',
      );
  });

  it('do not compile without them', () => {
    type Store = NonNullable<NonNullable<OstiaryOptions['limits']>['store']>;
    expectTypeOf<{ consume: typeof consume; peek: typeof peek }>().toExtend<Store>();
    expectTypeOf<{ consume: typeof consume }>().not.toExtend<Store>();
    type Limiter = ReturnType<Parameters<typeof rateLimiterFlexible>[0]>;
    expectTypeOf<RateLimiterMemory>().toExtend<Limiter>();
    expectTypeOf<Pick<RateLimiterMemory, 'consume'>>().not.toExtend<Limiter>();
  });

  it('stay the host’s, which may change them', async () => {
    const store = { consume, peek };
    await startProvider({ limits: { store }, partnerLimits: { store } });
    expect(Object.isFrozen(store)).toBe(false);
  });
});
