import { Socket } from 'node:net';
import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { type Json, TestClock } from '../support/provider.ts';
import { type HostileTarget, hostileResolver, hostileTargets } from '../webhooks/support/target-hostile.ts';
import { type RawServer, startRawServer } from '../webhooks/support/target-server.ts';
import {
  deliveries,
  register,
  secret,
  trigger,
  webhookProvider,
} from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';

const hooks = '/v1/partner/webhooks';
const good = 'https://receiver.example/hook';
const publicAddress = '93.184.216.34';
const events = ['webhook.test'];
const refusedHost = 'The host must resolve, and to public addresses only.';

/** What a broken guard would reach. It must know its port before the table is made. */
let trap: RawServer;
const dialled: string[] = [];

beforeEach(async () => {
  trap = await startRawServer((socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  dialled.length = 0;
  const connect = Socket.prototype.connect;
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...given: unknown[]) {
    dialled.push(JSON.stringify(given));
    return Reflect.apply(connect, this, given);
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await trap[Symbol.asyncDispose]();
});

/** A provider as it is on the Internet, whose names mean what a test says. */
async function shop() {
  let target: HostileTarget = { name: '', url: good, answers: [[publicAddress]] };
  let resolver = hostileResolver(target);
  const { provider } = await webhookProvider({
    webhooks: { allowPrivateTargets: false, resolve: (hostname) => resolver.resolve(hostname) },
  });
  const key = await provider.key({ mode: 'test' });
  return {
    provider,
    key,
    /** From now on names mean this. */
    meet(next: Omit<HostileTarget, 'name'>) {
      target = { name: '', ...next };
      resolver = hostileResolver(target);
    },
    asked: () => resolver.asked(),
    post: (url: string): Promise<Answer> =>
      provider.partnerCall(key, `POST ${hooks}`, { url, events, secret }),
    patch: (id: string, url: string): Promise<Answer> =>
      provider.partnerCall(key, `PATCH ${hooks}/${id}`, { url, enabled: true }),
    /** Connections that were tried to anything but the provider itself. */
    strangers: () => dialled.filter((given) => !given.includes(new URL(provider.origin).port)),
  };
}

const withoutId = (answer: Answer): string => answer.text.replace(String(answer.json().requestId), '');

describe('a hostile target', () => {
  it('is refused at registration and at change, without a connection, and tells nothing', async () => {
    const { key, provider, meet, post, patch, strangers } = await shop();
    const id = await register(provider, key, good, { events });
    const before = (await provider.partnerCall(key, `GET ${hooks}/${id}`)).text;
    const targets = hostileTargets(trap.port).filter(({ changesLater }) => changesLater === undefined);
    expect(targets.length).toBeGreaterThanOrEqual(60);
    const messages = new Map<string, string[]>();
    for (const target of targets) {
      meet(target);
      const posted = await post(target.url);
      meet(target);
      const patched = await patch(id, target.url);
      for (const answer of [posted, patched])
        expect([target.name, blamed(answer)]).toEqual([target.name, ['url']]);
      // The same words in both places, and nothing of what lies behind the name.
      expect([target.name, withoutId(patched)]).toEqual([target.name, withoutId(posted)]);
      const text = withoutId(posted);
      for (const address of target.answers?.flat() ?? [])
        if (!target.url.includes(address)) expect(text).not.toContain(address);
      const message = String((posted.json().details as Json[])[0]?.message);
      messages.set(message, [...(messages.get(message) ?? []), target.name]);
    }
    // Names are refused with one sentence, whatever they mean, or whether they exist.
    const named = targets.filter(
      ({ url }) => URL.canParse(url) && /^https:\/\/(receiver|nowhere)\.example:\d{4,5}\/hook$/.test(url),
    );
    expect(named.length).toBeGreaterThanOrEqual(15);
    const forNames = messages.get(refusedHost) ?? [];
    const onGoodPorts = named.filter(({ url }) => Number(new URL(url).port) >= 1024);
    for (const { name } of onGoodPorts) expect(forNames).toContain(name);
    // All others are about the text that the partner wrote.
    expect([...messages.keys()].filter((message) => message !== refusedHost).sort()).toEqual([
      'The URL is malformed.',
      'The URL must begin with https:// and a host.',
      'The URL must not contain a fragment.',
      'The URL must not contain credentials.',
      'The URL must not contain whitespace, control characters or backslashes.',
      'The port must be 443, or 1024 and above.',
      expect.stringMatching(/2048 characters/),
    ]);
    expect((await provider.partnerCall(key, `GET ${hooks}/${id}`)).text).toBe(before);
    expect((await provider.partnerCall(key, `GET ${hooks}`)).json().data).toHaveLength(1);
    expect(trap.sockets).toHaveLength(0);
    expect(strangers()).toEqual([]);
  });

  it('that was harmless when it was registered is refused at the attempt and at its retry', async () => {
    const { key, provider, meet, strangers } = await shop();
    const targets = hostileTargets(trap.port).filter(({ changesLater }) => changesLater === true);
    expect(targets.length).toBeGreaterThanOrEqual(2);
    for (const target of targets) {
      meet(target);
      const id = await register(provider, key, target.url, { events });
      await trigger(provider, key);
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        await provider.ostiary.worker.runDue();
        provider.clock.advance(60_000);
      }
      const refused = { httpStatus: null, error: 'target_refused', response: null };
      const pending = {
        status: 'pending',
        attempts: [
          { number: 1, ...refused },
          { number: 2, ...refused },
        ],
      };
      expect(await deliveries(provider, key, id), target.name).toMatchObject([pending]);
      await provider.partnerCall(key, `DELETE ${hooks}/${id}`);
    }
    expect(trap.sockets).toHaveLength(0);
    expect(strangers()).toEqual([]);
  });

  it('that was registered where it was allowed is refused at every attempt where it is not', async () => {
    const storage = memoryStorage();
    const shared = { storage, sealingKeys: [new Uint8Array(32).fill(1)], clock: new TestClock() };
    const start = async (allowPrivateTargets: boolean) => {
      const webhooks = { allowPrivateTargets, resolve: async () => ['127.0.0.1'] };
      return (await webhookProvider({ ...shared, webhooks })).provider;
    };
    const [lax, strict] = [await start(true), await start(false)];
    const ports = [lax, strict].map(({ origin }) => new URL(origin).port);
    for (const { name, url } of hostileTargets(trap.port)) {
      const key = await lax.key({ mode: 'test' });
      const { status, text } = await lax.partnerCall(key, `POST ${hooks}`, { url, events, secret });
      // Some are no URL at all.
      if (status === 400) continue;
      expect([name, status, text]).toEqual([name, 201, text]);
      await trigger(strict, key);
      await strict.ostiary.worker.runDue();
      const refused = { attempts: [{ httpStatus: null, error: 'target_refused' }] };
      expect(await deliveries(strict, key, JSON.parse(text).id), name).toMatchObject([refused]);
    }
    expect(trap.sockets).toHaveLength(0);
    expect(dialled.filter((given) => !ports.some((port) => given.includes(port)))).toEqual([]);
  });

  it('of an endpoint that there is not is not looked at', async () => {
    const { provider, meet, asked, patch } = await shop();
    meet({ url: good, answers: [['127.0.0.1']] });
    const foreign = await register(provider, await provider.key(), `https://${publicAddress}/`, { events });
    for (const id of [`we_${'0'.repeat(32)}`, foreign])
      for (const url of [good, 'http://127.0.0.1/'])
        expect(blamed(await patch(id, url), 404, 'not_found')).toEqual([]);
    expect(asked()).toBe(0);
  });

  it('does not make the provider ask for names of requests that are wrong otherwise', async () => {
    const { provider, key, meet, asked } = await shop();
    meet({ url: good, answers: [[publicAddress]] });
    for (const body of [
      { url: good, events, secret: 'short' },
      { url: good, events: ['nope'], secret },
      { url: good, events, secret, more: 1 },
    ])
      await provider.partnerCall(key, `POST ${hooks}`, body);
    await provider.partnerCall(null, `POST ${hooks}`, { url: good, events, secret });
    expect(asked()).toBe(0);
  });
});

describe('a good target', () => {
  it.each([
    ['HTTPS://Receiver.Example:443/a/../b?c=d', 'https://receiver.example/b?c=d'],
    ['https://réceiver.example/ü', 'https://xn--rceiver-bya.example/%C3%BC'],
    [`https://${publicAddress}/hook`, `https://${publicAddress}/hook`],
    ['https://[2606:4700::1111]:8443/hook', 'https://[2606:4700::1111]:8443/hook'],
  ])('%s is kept as %s, and looked up, not connected to', async (url, kept) => {
    const { meet, post, asked, strangers } = await shop();
    meet({ url, answers: [[publicAddress, '2606:4700::1111']] });
    const answer = await post(url);
    expect([answer.status, answer.json().url]).toEqual([201, kept]);
    // An address is its own answer.
    expect(asked()).toBe(url.toLowerCase().includes('ceiver.example') ? 1 : 0);
    expect(strangers()).toEqual([]);
  });
});
