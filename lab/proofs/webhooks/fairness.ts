import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import { bodyOf, close, listen, registerEndpoint, serving } from '../../support/http.ts';
import { endpoints, options, secret, typeOf } from './provider.ts';

/** What the healthy endpoint saw. */
export interface FairnessReport {
  readonly hanging: number;
  /** Events that were published for endpoints that hang. */
  readonly backlog: number;
  readonly events: number;
  readonly arrived: number;
  /** Milliseconds from the publication of an event to its arrival: the median, 95 % of them, and the worst. */
  readonly median: number;
  readonly p95: number;
  readonly worst: number;
}

const partners = ['acme-0', 'acme-1', 'acme-2', 'acme-3', 'acme-4'];

/** Registers every endpoint of every partner: 100, of which all but one hang. */
async function provision(ostiary: Ostiary, receiver: string): Promise<void> {
  await serving(ostiary.handler, async (origin) => {
    for (const slug of partners) {
      await ostiary.admin.partners.create({ slug, name: slug });
      const { key } = await ostiary.admin.apiKeys.issue({
        partner: slug,
        mode: 'live',
        scopes: ['webhooks'],
      });
      for (let endpoint = 0; endpoint < endpoints; endpoint += 1) {
        const url = `${receiver}/${slug}/${endpoint}`;
        await registerEndpoint(origin, key, { url, events: [typeOf(endpoint)], secret });
      }
    }
  });
}

/**
 * 99 endpoints never answer, so that each of their attempts takes until the deadline, and have a backlog; the
 * hundredth gets an event now and then.
 * @param load - for how long, how often, and how many events wait for each endpoint that hangs
 */
export async function proveFairness(load: {
  readonly seconds: number;
  readonly everyMs: number;
  readonly backlog: number;
}): Promise<FairnessReport> {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-proof-'));
  const healthy = { partner: 'acme-0', type: typeOf(0), path: '/acme-0/0' };
  const publishedAt = new Map<number, number>();
  const delays = new Map<number, number>();
  const receiver = createServer(async (request, response) => {
    if (request.url !== healthy.path) return;
    const { number } = JSON.parse((await bodyOf(request)).toString()).data;
    if (!delays.has(number)) delays.set(number, performance.now() - (publishedAt.get(number) ?? 0));
    response.writeHead(204).end();
  });
  const receiverUrl = await listen(receiver);
  const storage = sqliteStorage({ file: join(folder, 'ostiary.db') });
  const ostiary = await createOstiary(options(storage, randomBytes(32).toString('base64url'), Date.now));
  try {
    await provision(ostiary, receiverUrl);
    let backlog = 0;
    for (const partner of partners) {
      for (let endpoint = 0; endpoint < endpoints; endpoint += 1) {
        if (partner === healthy.partner && typeOf(endpoint) === healthy.type) continue;
        const event = { partner, type: typeOf(endpoint), data: {} };
        await Promise.all(Array.from({ length: load.backlog }, () => ostiary.events.publish(event)));
        backlog += load.backlog;
      }
    }
    ostiary.worker.start();
    const events = Math.floor((load.seconds * 1000) / load.everyMs);
    for (let number = 0; number < events; number += 1) {
      publishedAt.set(number, performance.now());
      await ostiary.events.publish({ partner: healthy.partner, type: healthy.type, data: { number } });
      await setTimeout(load.everyMs);
    }
    await setTimeout(2_500);
    const sorted = [...delays.values()].sort((a, b) => a - b);
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Infinity;
    return {
      hanging: partners.length * endpoints - 1,
      backlog,
      events,
      arrived: sorted.length,
      median: at(0.5),
      p95: at(0.95),
      worst: at(1),
    };
  } finally {
    // First what hangs, or the worker would wait for it.
    await close(receiver);
    await ostiary.close();
    await rm(folder, { recursive: true, force: true });
  }
}
