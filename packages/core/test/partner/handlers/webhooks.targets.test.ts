import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Resolve } from '../../../src/webhooks/targets.ts';
import type { Answer } from '../../support/browser.ts';
import { type Json, TestClock } from '../../support/provider.ts';
import {
  type HostileTarget,
  hostileResolver,
  hostileTargets,
} from '../../webhooks/support/target-hostile.ts';
import { type RawServer, serve } from '../../webhooks/support/target-server.ts';
import { blamed } from '../refusal.ts';
import {
  deliveries,
  hooks,
  shop as open,
  register,
  secret,
  trigger,
  webhookProvider,
} from '../webhook-shop.ts';

const good = 'https://receiver.example/hook';
const publicAddress = '93.184.216.34';
const events = ['webhook.test'];
const refusedHost = 'The host must resolve, and to public addresses only.';

/**
 * A server that only a broken address check would reach. Its port must be known before the table is built.
 */
let trap: RawServer;
const dialled: string[] = [];

beforeEach(async () => {
  trap = await serve((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  dialled.length = 0;
  const connect = Socket.prototype.connect;
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...given: unknown[]) {
    dialled.push(JSON.stringify(given));
    return Reflect.apply(connect, this, given);
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
});

/** Starts a provider as on the internet, with a partner and host names that the test resolves. */
async function shop() {
  let resolver = hostileResolver({ name: '', url: good, answers: [[publicAddress]] });
  const given = await open({
    webhooks: { allowPrivateTargets: false, resolve: (hostname) => resolver.resolve(hostname) },
  });
  const { provider, call } = given;
  return {
    ...given,
    /** Sets the IP addresses to which host names resolve from now on. */
    meet(next: Omit<HostileTarget, 'name'>) {
      resolver = hostileResolver({ name: '', ...next });
    },
    asked: () => resolver.asked(),
    post: (url: string): Promise<Answer> => call(`POST ${hooks}`, { url, events, secret }),
    patch: (id: string, url: string): Promise<Answer> => call(`PATCH ${hooks}/${id}`, { url, enabled: true }),
    /** Returns the connections that were attempted to servers other than the provider. */
    strangers: () => dialled.filter((given) => !given.includes(new URL(provider.origin).port)),
  };
}

const withoutId = (answer: Answer): string => answer.text.replace(String(answer.json().requestId), '');

/**
 * Result of a refused attempt in the form that its partner sees. The result is the same for every target, and
 * the duration of the attempt reveals nothing about the target.
 */
const refused = { durationMs: 0, httpStatus: null, error: 'target_refused', response: null };

describe('a hostile target', () => {
  it('is refused at registration and at change, without a connection or any information', async () => {
    const { call, list, register, meet, post, patch, strangers } = await shop();
    const id = await register(good);
    const before = (await call(`GET ${hooks}/${id}`)).text;
    const targets = hostileTargets(trap.port).filter(({ changesLater }) => changesLater === undefined);
    expect(targets.length).toBeGreaterThanOrEqual(60);
    const messages = new Set<string>();
    for (const target of targets) {
      meet(target);
      const posted = await post(target.url);
      meet(target);
      const patched = await patch(id, target.url);
      for (const answer of [posted, patched])
        expect([target.name, blamed(answer)]).toEqual([target.name, ['url']]);
      // Both responses have the same text, and reveal nothing about the host.
      expect([target.name, withoutId(patched)]).toEqual([target.name, withoutId(posted)]);
      const text = withoutId(posted);
      for (const address of target.answers?.flat() ?? [])
        if (!target.url.includes(address)) expect(text).not.toContain(address);
      const message = String((posted.json().details as Json[])[0]?.message);
      messages.add(message);
      // Host names are refused with the same text for all addresses, whether they exist or not.
      if (['receiver', 'nowhere'].some((host) => target.url === `https://${host}.example:${trap.port}/hook`))
        expect([target.name, message]).toEqual([target.name, refusedHost]);
    }
    expect([...messages].sort()).toEqual([
      // All messages but one concern the text of the URL.
      'The URL is malformed.',
      'The URL must begin with https:// and a host.',
      'The URL must not contain a fragment.',
      'The URL must not contain credentials.',
      'The URL must not contain whitespace, control characters or backslashes.',
      refusedHost,
      'The port must be 443, or 1024 and above.',
      expect.stringMatching(/2048 characters/),
    ]);
    expect((await call(`GET ${hooks}/${id}`)).text).toBe(before);
    expect(await list(hooks)).toHaveLength(1);
    expect(trap.sockets).toHaveLength(0);
    expect(strangers()).toEqual([]);
  });

  it('that was harmless when it was registered is refused at the attempt', async () => {
    const { call, register, trigger, deliveries, work, meet, strangers } = await shop();
    const targets = hostileTargets(trap.port).filter(({ changesLater }) => changesLater === true);
    expect(targets.length).toBeGreaterThanOrEqual(2);
    for (const target of targets) {
      meet(target);
      const id = await register(target.url);
      await trigger();
      await work();
      expect(await deliveries(id), target.name).toMatchObject([{ attempts: [refused] }]);
      await call(`DELETE ${hooks}/${id}`);
    }
    expect(trap.sockets).toHaveLength(0);
    expect(strangers()).toEqual([]);
  });

  it('that was registered where it was allowed is refused at every attempt where it is not', async () => {
    const shared = { storage: memoryStorage(), sealingKeys: [randomBytes(32)], clock: new TestClock() };
    let resolver = hostileResolver({ name: '', url: good });
    const start = async (allowPrivateTargets: boolean, resolve: Resolve) => {
      const webhooks = { allowPrivateTargets, resolve, retryDelaysSeconds: [60] };
      return (await webhookProvider({ ...shared, webhooks })).provider;
    };
    const lax = await start(true, async () => ['127.0.0.1']);
    const strict = await start(false, (hostname) => resolver.resolve(hostname));
    const key = await lax.key({ mode: 'test' });
    await register(lax, key, `http://receiver.example:${trap.port}/`, { events });
    await trigger(lax, key);
    await lax.ostiary.worker.runDue();
    expect(trap.sockets, 'there is something to be reached').toHaveLength(1);
    dialled.length = 0;
    const ports = [lax, strict].map(({ origin }) => new URL(origin).port);
    for (const target of hostileTargets(trap.port)) {
      const { name, url, answers, changesLater } = target;
      const by = await lax.key({ mode: 'test' });
      const { status, text } = await lax.partnerCall(by, `POST ${hooks}`, { url, events, secret });
      // Skip targets that are not valid URLs.
      if (status === 400) continue;
      expect([name, status, text]).toEqual([name, 201, text]);
      await trigger(strict, by);
      const [hostile] = answers?.slice(changesLater === true ? -1 : 0) ?? [];
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        // The hostile address is returned first and a harmless one later, so that checking a second look-up
        // would miss it.
        resolver = hostileResolver({ ...target, ...(hostile && { answers: [hostile, [publicAddress]] }) });
        await strict.ostiary.worker.runDue();
        expect([name, resolver.asked()]).toEqual([name, expect.toSatisfy((times: number) => times <= 1)]);
        shared.clock.advance(60_000);
      }
      const both = { status: 'dropped', attempts: [refused, refused] };
      expect(await deliveries(strict, by, JSON.parse(text).id), name).toMatchObject([both]);
    }
    expect(trap.sockets).toHaveLength(1);
    expect(dialled.filter((given) => !ports.some((port) => given.includes(port)))).toEqual([]);
  });

  it('is not looked up for an endpoint that there is not, nor for requests that are wrong otherwise', async () => {
    const { provider, call, register, meet, asked, patch } = await shop();
    meet({ url: good, answers: [[publicAddress]] });
    const foreign = await register(`https://${publicAddress}/`, {}, await provider.key());
    for (const id of [`we_${'0'.repeat(32)}`, foreign])
      for (const url of [good, 'http://127.0.0.1/'])
        expect(blamed(await patch(id, url), 404, 'not_found')).toEqual([]);
    const body = { url: good, events, secret };
    for (const wrong of [{ secret: 'short' }, { events: ['nope'] }, { more: 1 }])
      await call(`POST ${hooks}`, { ...body, ...wrong });
    await call(`POST ${hooks}`, body, null);
    expect(asked()).toBe(0);
  });
});

it.each([
  ['HTTPS://Receiver.Example:443/a/../b?c=d', 'https://receiver.example/b?c=d'],
  ['https://réceiver.example/ü', 'https://xn--rceiver-bya.example/%C3%BC'],
  [`https://${publicAddress}/hook`, `https://${publicAddress}/hook`],
  ['https://[2606:4700::1111]:8443/hook', 'https://[2606:4700::1111]:8443/hook'],
])('a good target %s is kept as %s, and looked up, not connected to', async (url, kept) => {
  const { meet, post, asked, strangers } = await shop();
  meet({ url, answers: [[publicAddress, '2606:4700::1111']] });
  const answer = await post(url);
  expect([answer.status, answer.json().url]).toEqual([201, kept]);
  // An IP address needs no look-up.
  expect(asked()).toBe(url.toLowerCase().includes('ceiver.example') ? 1 : 0);
  expect(strangers()).toEqual([]);
});
