import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';
import { sharingCounts } from '../support/shared-counts.ts';

/**
 * Starts a provider with a client, and functions that send requests from an IP address and return the status.
 */
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

async function expectTimes(count: number, status: number, work: () => Promise<number>): Promise<void> {
  for (let time = 0; time < count; time += 1) expect(await work()).toBe(status);
}

describe('authorization requests of one address', () => {
  it('are refused from the 301st in a minute on, with Retry-After, until the minute ends', async () => {
    const { provider, ask, authorize } = await start();
    await expectTimes(300, 303, authorize);
    provider.clock.advance(20_001);
    const refused = await ask();
    expect([refused.outcome, refused.location]).toEqual(['429 slow_down', null]);
    expect(refused.headers.get('retry-after')).toBe('40');
    provider.clock.advance(39_998);
    expect((await ask()).headers.get('retry-after')).toBe('1');
    provider.clock.advance(1);
    expect(await authorize()).toBe(303);
  });

  it('count right or wrong, show browsers a page then, and let pages, answers and exchanges go on', async () => {
    const { provider, client, ask } = await start({ limits: { authorizeStarts: 2 } });
    const open = await openConsent(provider, client);
    const nobody = provider.authorizeUrl({ ...client, id: 'nobody' });
    expect((await ask('127.0.0.1', nobody)).status).toBe(401);
    const page = await open.browser.get(provider.authorizeUrl(client));
    expect(page.outcome).toBe('429 slow_down');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const { callback } = await open.finish();
    expect(await provider.redeem(client, callback.get('code') ?? '')).toBe('200 ok');
  });

  it('count per /64, /56 and /48 network of IPv6, of which one customer can have many /64', async () => {
    const { provider, authorize } = await start({ limits: { authorizeStarts: 2 } });
    const go = (number: number) => authorize(`2001:db8:1:${number.toString(16)}::1`);
    // Four /64 networks fill their /56 …
    for (const number of [0, 0, 1, 1, 2, 2]) expect(await go(number)).toBe(303);
    expect(await go(0)).toBe(429);
    for (const number of [3, 3]) expect(await go(number)).toBe(303);
    for (const number of [4, 0xff]) expect(await go(number)).toBe(429);
    // Sixteen times the limit of a /64 network fills the /48. Requests that were refused above have not
    // counted.
    for (let upper = 1; upper <= 3; upper += 1) {
      for (let lower = 0; lower < 8; lower += 1) expect(await go(upper * 256 + lower)).toBe(303);
    }
    expect(await go(4 * 256)).toBe(429);
    expect(await authorize('2001:db8:2::1')).toBe(303);
    provider.clock.advance(60_000);
    expect(await go(4)).toBe(303);
  });
});

describe('failed client authentications of one address', () => {
  it('are refused from the 61st in a minute on, with Retry-After, until the minute ends, and right ones with them', async () => {
    const { provider, client, send, wrong, fail } = await start();
    const token = await provider.token(client);
    await expectTimes(60, 401, fail);
    provider.clock.advance(1);
    const refused = await send(wrong);
    expect([refused.outcome, refused.headers.get('retry-after')]).toEqual(['429 slow_down', '60']);
    expect((await send(tokenRequest(client, 'x'))).status).toBe(429);
    expect(await fail('192.0.2.2')).toBe(401);
    const ofSameAddress = { 'x-forwarded-for': '192.0.2.1' };
    expect((await provider.userinfo(token, ofSameAddress)).status).toBe(200);
    expect((await provider.revoke(token, ofSameAddress)).status).toBe(200);
    provider.clock.advance(59_999);
    expect(await fail()).toBe(401);
  });

  it('ask a storage nothing that does not keep the counts, once there are too many', async () => {
    const database = fragileStorage(memoryStorage());
    const limits = { failedClientAuthentications: 2 };
    const { send, wrong, fail } = await start({ storage: database.storage, limits });
    await expectTimes(2, 401, fail);
    database.forget();
    expect([(await send(wrong)).status, database.calls]).toEqual([429, []]);
  });

  it('count unknown clients and missing secrets too, and nothing that is not a failed authentication', async () => {
    const { client, send } = await start({ limits: { failedClientAuthentications: 2 } });
    const right = tokenRequest(client, 'x');
    const { client_id: _, client_secret: __, ...grant } = right;
    const verified = { ...grant, client_id: client.id, code_verifier: 'x' };
    const others = [right, verified, { ...right, grant_type: 'password' }, grant, {}];
    for (const body of [...others, ...others]) expect((await send(body)).status).toBe(400);
    for (const [client_id, status] of [
      ['nobody', 401],
      [client.id, 401],
      [client.id, 429],
    ])
      expect((await send({ ...grant, client_id })).status).toBe(status);
  });
});

it.each([
  ['shared by all processes on a storage that shares them', true],
  ['kept by each process for itself on any other storage', false],
])('counts of addresses are %s', async (_how, isShared) => {
  const storage = isShared ? sharingCounts(memoryStorage()) : memoryStorage();
  const limits = { authorizeStarts: 2, failedClientAuthentications: 2 };
  const options = { storage, limits, sealingKeys: [randomBytes(32)] };
  const one = await start(options);
  const two = await start({ ...options, clock: one.provider.clock });
  // One client at both, so that each process counts the same failures.
  const { client_secret: _, ...wrong } = one.wrong;
  const fail = async (by: typeof one) => (await by.send(wrong)).status;
  await expectTimes(2, 303, one.authorize);
  await expectTimes(2, 401, () => fail(one));
  expect([await one.authorize(), await fail(one)]).toEqual([429, 429]);
  expect([await two.authorize(), await fail(two)]).toEqual(isShared ? [429, 429] : [303, 401]);
  one.provider.clock.advance(60_000);
  expect([await one.authorize(), await fail(two)]).toEqual([303, 401]);
});
