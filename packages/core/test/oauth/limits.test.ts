import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';
import { sharingCounts } from '../support/shared-counts.ts';

/** A provider, a client of it, and ways to come from an address, each of which tells the status of the answer. */
async function start(options: Partial<OstiaryOptions> = {}) {
  const provider = await startProvider({ trustedProxies: ['127.0.0.0/8'], limits: {}, ...options });
  const client = await provider.client();
  const url = provider.authorizeUrl(client, { prompt: 'none' });
  const ask = (address = '192.0.2.1', target = url) =>
    provider.request(target, { headers: { 'x-forwarded-for': address } });
  const send = (body: object, address = '192.0.2.1') =>
    provider.call('/v1/oauth/token', body, { 'x-forwarded-for': address });
  const wrong = { ...tokenRequest(client, 'x'), client_secret: 'wrong' };
  const authorize = async (address?: string) => (await ask(address)).status;
  const fail = async (address?: string) => (await send(wrong, address)).status;
  return { provider, client, ask, send, wrong, authorize, fail };
}

async function times(count: number, work: () => Promise<number>): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let time = 0; time < count; time += 1) statuses.add(await work());
  return statuses;
}

const all = (status: number): Set<number> => new Set([status]);

describe('authorization requests of one address', () => {
  it('are refused from the 301st in a minute on, with Retry-After, until the minute ends', async () => {
    const { provider, ask, authorize } = await start();
    expect(await times(300, authorize)).toEqual(all(303));
    provider.clock.advance(20_001);
    const refused = await ask();
    expect([refused.outcome, refused.location]).toEqual(['429 slow_down', null]);
    expect(refused.headers.get('retry-after')).toBe('40');
    provider.clock.advance(39_998);
    expect((await ask()).headers.get('retry-after')).toBe('1');
    provider.clock.advance(1);
    expect(await authorize()).toBe(303);
  });

  it('count whether they are right or wrong, and browsers are shown a page then', async () => {
    const { provider, client, ask } = await start({ limits: { authorizeStarts: 2 } });
    const nobody = provider.authorizeUrl({ ...client, id: 'nobody' });
    expect(await times(2, async () => (await ask('127.0.0.1', nobody)).status)).toEqual(all(401));
    const page = await provider.browser().get(provider.authorizeUrl(client));
    expect([page.outcome, page.headers.get('content-type')]).toEqual([
      '429 slow_down',
      'text/html; charset=utf-8',
    ]);
  });

  it('count per /64, /56 and /48 network of IPv6, of which one customer can have many /64', async () => {
    const { provider, authorize } = await start({ limits: { authorizeStarts: 2 } });
    const go = (number: number) => authorize(`2001:db8:1:${number.toString(16)}::1`);
    // A /56 is full after four full /64 …
    for (const number of [0, 0, 1, 1, 2, 2]) expect(await go(number)).toBe(303);
    expect(await go(0)).toBe(429);
    for (const number of [3, 3]) expect(await go(number)).toBe(303);
    expect(await go(4)).toBe(429);
    expect(await go(0xff)).toBe(429);
    // … and a /48 after sixteen; the /64 that were refused above have filled nothing.
    for (let upper = 1; upper <= 3; upper += 1) {
      for (let lower = 0; lower < 8; lower += 1) expect(await go(upper * 256 + lower)).toBe(303);
    }
    expect(await go(4 * 256)).toBe(429);
    expect(await authorize('2001:db8:2::1')).toBe(303);
    provider.clock.advance(60_000);
    expect(await go(4)).toBe(303);
  });

  it('do not count as anything else: pages, answers and exchanges go on', async () => {
    const { provider, client } = await start({ limits: { authorizeStarts: 1 } });
    const page = await openConsent(provider, client);
    expect(await provider.attempt(client, {}, page.browser)).toBe('429 slow_down');
    const { callback } = await page.finish();
    expect(await provider.redeem(client, callback.get('code') ?? '')).toBe('200 ok');
  });
});

describe('failed client authentications of one address', () => {
  it('are refused from the 61st in a minute on, with Retry-After, until the minute ends, and right ones with them', async () => {
    const { provider, client, send, wrong, fail } = await start();
    expect(await times(60, fail)).toEqual(all(401));
    provider.clock.advance(1);
    const refused = await send(wrong);
    expect([refused.outcome, refused.headers.get('retry-after')]).toEqual(['429 slow_down', '60']);
    expect((await send(tokenRequest(client, 'x'))).status).toBe(429);
    expect(await fail('192.0.2.2')).toBe(401);
    provider.clock.advance(59_999);
    expect(await fail()).toBe(401);
  });

  it('count unknown clients and missing secrets too, and nothing that is not a failed authentication', async () => {
    const { client, send } = await start({ limits: { failedClientAuthentications: 2 } });
    const right = tokenRequest(client, 'x');
    const { client_id: _, client_secret: __, ...grant } = right;
    const others = [
      right,
      { ...grant, client_id: client.id, code_verifier: 'x' },
      { ...right, grant_type: 'password' },
      grant,
      {},
    ];
    for (const body of [...others, ...others]) expect((await send(body)).status).toBe(400);
    for (const [client_id, status] of [
      ['nobody', 401],
      [client.id, 401],
      [client.id, 429],
    ])
      expect((await send({ ...grant, client_id })).status).toBe(status);
  });

  it('leave userinfo and revocation alone', async () => {
    const { provider, client, fail } = await start({ limits: { failedClientAuthentications: 1 } });
    const token = await provider.token(client);
    expect(await times(3, () => fail('127.0.0.1'))).toEqual(new Set([401, 429]));
    expect(await provider.isAlive(token)).toBe(true);
    expect((await provider.revoke(token)).status).toBe(200);
  });
});

it('the address that limits count by is the socket’s without trusted proxies, whatever a header says', async () => {
  const { provider, client } = await start({ trustedProxies: [], limits: { authorizeStarts: 2 } });
  for (const [address, outcome] of [
    ['192.0.2.1', '303 interaction'],
    ['192.0.2.2', '303 interaction'],
    ['192.0.2.3', '429 slow_down'],
  ] as const) {
    const headers = { 'x-forwarded-for': address, forwarded: `for=${address}`, 'x-real-ip': address };
    const answer = await provider.browser().get(provider.authorizeUrl(client), headers);
    expect(answer.outcome).toBe(outcome);
  }
});

describe('counts of addresses', () => {
  it('are shared by all processes on a storage that shares them', async () => {
    const limits = { authorizeStarts: 3, failedClientAuthentications: 3 };
    const options = { storage: sharingCounts(memoryStorage()), limits, sealingKeys: [randomBytes(32)] };
    const one = await start(options);
    const two = await start({ ...options, clock: one.provider.clock });
    const authorize = (index: number) => (index % 2 === 0 ? one : two).authorize();
    for (const [index, status] of [303, 303, 303, 429, 429].entries())
      expect(await authorize(index)).toBe(status);
    // The client of the first, so that each process counts the same failure.
    const { client_secret: _, ...wrong } = one.wrong;
    expect(await times(3, async () => (await two.send(wrong)).status)).toEqual(all(401));
    expect((await one.send(wrong)).status).toBe(429);
    one.provider.clock.advance(60_000);
    expect(await one.authorize()).toBe(303);
    expect((await two.send(wrong)).status).toBe(401);
  });

  it('are kept by each process for itself on any other storage', async () => {
    const limits = { authorizeStarts: 2, failedClientAuthentications: 2 };
    const options = { storage: memoryStorage(), limits, sealingKeys: [randomBytes(32)] };
    const one = await start(options);
    const two = await start({ ...options, clock: one.provider.clock });
    for (const { authorize, fail } of [one, two]) {
      expect(await times(2, authorize)).toEqual(all(303));
      expect(await authorize()).toBe(429);
      expect(await times(2, fail)).toEqual(all(401));
      expect(await fail()).toBe(429);
    }
    one.provider.clock.advance(60_000);
    expect([await one.authorize(), await one.fail()]).toEqual([303, 401]);
  });
});
