import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import type { Answer } from '../support/browser.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { type TestClient, TestProvider } from '../support/provider.ts';

const running: TestProvider[] = [];
afterEach(() => Promise.all(running.splice(0).map((provider) => provider.stop())));

async function start(
  options: Partial<OstiaryOptions> = {},
): Promise<{ provider: TestProvider; client: TestClient }> {
  const provider = await TestProvider.start({ trustedProxies: ['127.0.0.0/8'], ...options });
  running.push(provider);
  return { provider, client: await provider.client() };
}

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

const authorize = (
  provider: TestProvider,
  client: TestClient,
  headers = from('192.0.2.1'),
): Promise<Answer> => provider.request(provider.authorizeUrl(client, { prompt: 'none' }), { headers });

const fail = (provider: TestProvider, client: TestClient, headers = from('192.0.2.1')): Promise<Answer> =>
  provider.call(
    '/v1/oauth/token',
    {
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: client.redirectUri,
      client_id: client.id,
      client_secret: 'wrong',
    },
    headers,
  );

async function times(count: number, work: () => Promise<Answer>): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let time = 0; time < count; time += 1) statuses.add((await work()).status);
  return statuses;
}

describe('authorization requests of one address', () => {
  it('are refused from the 301st in a minute on, with Retry-After, until the minute ends', async () => {
    const { provider, client } = await start();
    expect(await times(300, () => authorize(provider, client))).toEqual(new Set([303]));
    provider.clock.advance(20_001);
    const refused = await authorize(provider, client);
    expect([
      refused.status,
      refused.json().error,
      refused.headers.get('retry-after'),
      refused.location,
    ]).toEqual([429, 'slow_down', '40', null]);
    provider.clock.advance(39_998);
    expect((await authorize(provider, client)).headers.get('retry-after')).toBe('1');
    provider.clock.advance(1);
    expect((await authorize(provider, client)).status).toBe(303);
  });

  it('show browsers a page then', async () => {
    const { provider, client } = await start({ limits: { authorizeStarts: 1 } });
    const browser = provider.browser();
    await browser.get(provider.authorizeUrl(client));
    const answer = await browser.get(provider.authorizeUrl(client));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('slow_down');
  });

  it('count whether they are right or wrong', async () => {
    const { provider, client } = await start({ limits: { authorizeStarts: 2 } });
    const nobody = { ...client, id: 'nobody' };
    expect(await times(2, () => authorize(provider, nobody))).toEqual(new Set([401]));
    expect((await authorize(provider, client)).status).toBe(429);
  });

  it('count per address, and per /64 network of IPv6', async () => {
    const { provider, client } = await start({ limits: { authorizeStarts: 2 } });
    expect(await times(2, () => authorize(provider, client, from('192.0.2.1')))).toEqual(new Set([303]));
    expect((await authorize(provider, client, from('192.0.2.1'))).status).toBe(429);
    expect((await authorize(provider, client, from('192.0.2.2'))).status).toBe(303);
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff']) {
      expect((await authorize(provider, client, from(address))).status).toBe(303);
    }
    expect((await authorize(provider, client, from('2001:0DB8:0001:0002:3::'))).status).toBe(429);
    expect((await authorize(provider, client, from('2001:db8:1:3::1'))).status).toBe(303);
    // The same address in IPv6 clothes.
    expect((await authorize(provider, client, from('::ffff:192.0.2.1'))).status).toBe(429);
  });

  it('count per /56 and /48 network of IPv6 too, of which one customer can have many /64', async () => {
    const { provider, client } = await start({ limits: { authorizeStarts: 2 } });
    const network = (number: number) => from(`2001:db8:1:${number.toString(16)}::1`);
    const statuses: number[] = [];
    const go = async (number: number) => {
      const { status } = await authorize(provider, client, network(number));
      statuses.push(status);
      return status;
    };
    // A /56 is full after four full /64 …
    for (const number of [0, 0, 1, 1, 2, 2, 3, 3]) expect(await go(number)).toBe(303);
    expect(await go(4)).toBe(429);
    expect(await go(0xff)).toBe(429);
    // … and a /48 after sixteen; the /64 that were refused above have filled nothing.
    for (let upper = 1; upper <= 3; upper += 1) {
      for (let lower = 0; lower < 8; lower += 1) expect(await go(upper * 256 + lower)).toBe(303);
    }
    expect(await go(4 * 256)).toBe(429);
    expect((await authorize(provider, client, from('2001:db8:2::1'))).status).toBe(303);
    expect(statuses.filter((status) => status === 303)).toHaveLength(32);
    provider.clock.advance(60_000);
    expect(await go(4)).toBe(303);
  });

  it('do not count as anything else: pages, answers and exchanges go on', async () => {
    const { provider, client } = await start({ limits: { authorizeStarts: 1 } });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(client));
    expect((await browser.get(provider.authorizeUrl(client))).status).toBe(429);
    const end = await provider.follow(browser, location ?? '');
    expect(
      (await provider.exchange(client, new URL(end.location ?? '').searchParams.get('code') ?? '')).status,
    ).toBe(200);
  });
});

describe('failed client authentications of one address', () => {
  it('are refused from the 61st in a minute on, with Retry-After, until the minute ends', async () => {
    const { provider, client } = await start();
    expect(await times(60, () => fail(provider, client))).toEqual(new Set([401]));
    provider.clock.advance(1);
    const refused = await fail(provider, client);
    expect([refused.status, refused.json().error, refused.headers.get('retry-after')]).toEqual([
      429,
      'slow_down',
      '60',
    ]);
    const right = await provider.call(
      '/v1/oauth/token',
      {
        grant_type: 'authorization_code',
        code: 'x',
        redirect_uri: client.redirectUri,
        client_id: client.id,
        client_secret: client.secret,
      },
      from('192.0.2.1'),
    );
    expect(right.status).toBe(429);
    expect((await fail(provider, client, from('192.0.2.2'))).status).toBe(401);
    provider.clock.advance(59_999);
    expect((await fail(provider, client)).status).toBe(401);
  });

  it('count unknown clients and missing secrets too, and nothing that is not a failed authentication', async () => {
    const { provider, client } = await start({ limits: { failedClientAuthentications: 2 } });
    const headers = from('192.0.2.1');
    const grant = { grant_type: 'authorization_code', code: 'x', redirect_uri: client.redirectUri };
    const others = [
      { ...grant, client_id: client.id, client_secret: client.secret },
      { ...grant, client_id: client.id, code_verifier: 'x' },
      { ...grant, client_id: client.id, client_secret: client.secret, grant_type: 'password' },
      grant,
      {},
    ];
    for (const body of [...others, ...others])
      expect((await provider.call('/v1/oauth/token', body, headers)).status).toBe(400);
    expect((await provider.call('/v1/oauth/token', { ...grant, client_id: 'nobody' }, headers)).status).toBe(
      401,
    );
    expect((await provider.call('/v1/oauth/token', { ...grant, client_id: client.id }, headers)).status).toBe(
      401,
    );
    expect((await provider.call('/v1/oauth/token', { ...grant, client_id: client.id }, headers)).status).toBe(
      429,
    );
  });

  it('leave userinfo and revocation alone', async () => {
    const { provider, client } = await start({ limits: { failedClientAuthentications: 1 } });
    const token = await provider.token(client);
    expect(await times(3, () => fail(provider, client, {}))).toEqual(new Set([401, 429]));
    expect((await provider.userinfo(token)).status).toBe(200);
    expect((await provider.call('/v1/oauth/revoke', { token })).status).toBe(200);
  });
});

describe('the address that limits count by', () => {
  it('is the socket’s without trusted proxies, whatever X-Forwarded-For says', async () => {
    const { provider, client } = await start({ trustedProxies: [], limits: { authorizeStarts: 2 } });
    expect((await authorize(provider, client, from('192.0.2.1'))).status).toBe(303);
    expect((await authorize(provider, client, from('192.0.2.2'))).status).toBe(303);
    expect((await authorize(provider, client, from('192.0.2.3'))).status).toBe(429);
  });

  it('is the right-most one that is no trusted proxy: callers cannot choose it', async () => {
    const { provider, client } = await start({
      trustedProxies: ['127.0.0.1', '10.0.0.0/8'],
      limits: { authorizeStarts: 2 },
    });
    expect((await authorize(provider, client, from('1.1.1.1, 192.0.2.1, 10.1.2.3'))).status).toBe(303);
    expect((await authorize(provider, client, from('2.2.2.2, 192.0.2.1'))).status).toBe(303);
    expect((await authorize(provider, client, from('192.0.2.1, 10.0.0.1, 10.0.0.2'))).status).toBe(429);
    expect((await authorize(provider, client, from('192.0.2.1, 192.0.2.9'))).status).toBe(303);
  });
});

describe('counts of addresses', () => {
  /** A storage of processes that count for themselves. */
  function withoutCounts() {
    const { rateLimits: _, ...storage } = memoryStorage();
    return storage;
  }

  it('are shared by all processes on a storage that shares them', async () => {
    const limits = { authorizeStarts: 3, failedClientAuthentications: 3 };
    const options = { storage: memoryStorage(), limits, sealingKeys: [randomBytes(32)] };
    const { provider: one, client } = await start(options);
    const { provider: two } = await start({ ...options, clock: one.clock });
    expect(await times(2, () => authorize(one, client))).toEqual(new Set([303]));
    expect((await authorize(two, client)).status).toBe(303);
    expect((await authorize(two, client)).status).toBe(429);
    expect((await authorize(one, client)).status).toBe(429);
    expect(await times(3, () => fail(two, client))).toEqual(new Set([401]));
    expect((await fail(one, client)).status).toBe(429);
    one.clock.advance(60_000);
    expect((await authorize(one, client)).status).toBe(303);
    expect((await fail(two, client)).status).toBe(401);
  });

  it('are kept by each process for itself on any other storage', async () => {
    const limits = { authorizeStarts: 2, failedClientAuthentications: 2 };
    const options = { storage: withoutCounts(), limits, sealingKeys: [randomBytes(32)] };
    const { provider: one, client } = await start(options);
    const { provider: two } = await start({ ...options, clock: one.clock });
    for (const provider of [one, two]) {
      expect(await times(2, () => authorize(provider, client))).toEqual(new Set([303]));
      expect((await authorize(provider, client)).status).toBe(429);
      expect(await times(2, () => fail(provider, client))).toEqual(new Set([401]));
      expect((await fail(provider, client)).status).toBe(429);
    }
    one.clock.advance(60_000);
    expect((await authorize(one, client)).status).toBe(303);
    expect((await fail(one, client)).status).toBe(401);
  });

  it('that cannot be kept refuse with 503 rather than let everybody pass', async () => {
    const database = fragileStorage();
    const { provider, client } = await start({ storage: database.storage });
    const brief = (answer: Answer) => [answer.status, answer.headers.get('retry-after') !== null];
    database.breakWhen((call) => call === 'rateLimits.consume');
    expect(brief(await authorize(provider, client))).toEqual([503, true]);
    // Without a count a wrong secret could be tried for ever.
    expect(brief(await fail(provider, client))).toEqual([503, true]);
    database.breakWhen((call) => call === 'rateLimits.peek');
    expect(brief(await fail(provider, client))).toEqual([503, true]);
    database.breakWhen(null);
    expect((await authorize(provider, client)).status).toBe(303);
  });
});
