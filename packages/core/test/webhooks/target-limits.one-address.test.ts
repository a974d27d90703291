import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { hooks, register, trigger, webhookProvider } from '../partner/webhook-shop.ts';
import { response, serve } from './support/target-server.ts';

const partners = 10;
const perPartner = 5;
const eventsPerPartner = 20;

/**
 * Time for which the flooded server first holds every request, in milliseconds: longer than an attempt waits
 * for a place.
 */
const holdMs = 6_500;

it('200 sandbox events for 50 endpoints at one address are at most 64 attempts at once, and delay no live event', async () => {
  const { provider } = await webhookProvider({
    clock: { now: () => Date.now() },
    events: { 'order.shipped': { schema: z.object({}), example: {} } },
    webhooks: {
      resolve: async (host) => [host.startsWith('elsewhere') ? '::1' : '127.0.0.1'],
    },
  });
  /** Requests that the flooded server has not responded to yet. */
  const held = new Set<() => void>();
  let most = 0;
  let isHolding = true;
  const arrivals = new Map<string, number>();
  const arrived = new Map<string, number>();
  const server = await serve((socket, { head, body }) => {
    const { id } = JSON.parse(body.toString());
    const accept = () => void socket.write(response(204));
    if (!head.startsWith('POST /flood')) {
      arrived.set(id, performance.now());
      return accept();
    }
    const path = head.split(' ')[1];
    arrivals.set(`${path} ${id}`, (arrivals.get(`${path} ${id}`) ?? 0) + 1);
    const release = () => {
      held.delete(release);
      accept();
    };
    held.add(release);
    most = Math.max(most, held.size);
    if (!isHolding) setTimeout(release, 10);
  });
  const at = (name: string, path: string) => `http://${name}.example:${server.port}${path}`;

  const keys = await Promise.all(Array.from({ length: partners }, () => provider.key({ mode: 'test' })));
  const endpoints: { readonly key: (typeof keys)[number]; readonly id: string }[] = [];
  for (const [number, key] of keys.entries())
    for (let endpoint = 0; endpoint < perPartner; endpoint += 1) {
      const url = at(`flood-${number}-${endpoint}`, `/flood/${number}/${endpoint}`);
      endpoints.push({ key, id: await register(provider, key, url) });
    }
  const live = await Promise.all(
    ['elsewhere', 'neighbour'].map(async (name) => {
      const key = await provider.key();
      await register(provider, key, at(name, '/live'));
      return key.partner;
    }),
  );

  const { events, worker } = provider.ostiary;
  worker.start();
  const sent = Promise.all(
    keys.map(async (key) => {
      for (let event = 0; event < eventsPerPartner; event += 1) await trigger(provider, key);
    }),
  );
  sent.catch(() => undefined);
  const delays: number[] = [];
  const began = performance.now();
  while (performance.now() - began < holdMs) {
    for (const partner of live) {
      const at = performance.now();
      const { id } = await events.publish({ partner, type: 'order.shipped', data: {} });
      await expect.poll(() => arrived.has(id), { interval: 5 }).toBe(true);
      delays.push((arrived.get(id) ?? Number.NaN) - at);
    }
    await delay(100);
  }
  await sent;
  isHolding = false;
  for (const release of [...held]) release();

  const total = endpoints.length * eventsPerPartner;
  await expect.poll(() => arrivals.size, { interval: 100 }).toBe(total);
  expect(most).toBeGreaterThan(16);
  expect(most).toBeLessThanOrEqual(64);
  // An event that waits for the flooded address arrives when it releases its requests, or later.
  expect(Math.max(...delays)).toBeLessThan(5_000);
  expect([...arrivals.values()].every((times) => times === 1)).toBe(true);

  /** Counts the deliveries whose only attempt succeeded. */
  async function accepted(): Promise<number> {
    let count = 0;
    for (const { key, id } of endpoints) {
      const answer = await provider.partnerCall(key, `GET ${hooks}/${id}/deliveries?limit=100`);
      for (const { status, attempts } of answer.json().data as {
        readonly status: string;
        readonly attempts: readonly { readonly number: number }[];
      }[])
        if (status === 'delivered' && attempts.length === 1 && attempts[0]?.number === 1) count += 1;
    }
    return count;
  }
  await expect.poll(accepted, { interval: 500 }).toBe(total);
  await worker.stop();
}, 120_000);
