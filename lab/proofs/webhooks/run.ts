import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';
import { registerEndpoint, serving } from '../../support/http.ts';
import { KilledProcess } from '../../support/processes/killed-process.ts';
import { audit, type Findings } from './audit.ts';
import { endpoints, options, owner, secret, typeOf } from './provider.ts';
import { type Behaviour, MisbehavingReceiver } from './receiver.ts';

/** One run. */
export interface Plan {
  readonly behaviour: Behaviour;
  readonly deliveries: number;
  /** For each kill: after which share of what was just published, and how many milliseconds more. */
  readonly kills: readonly { readonly share: number; readonly delayMs: number }[];
}

/** What a run found. */
export interface Report {
  readonly plan: Plan;
  /** Requests that the receiver got. */
  readonly requests: number;
  /** Events that it never accepted. */
  readonly lost: number;
  /** Events that it accepted more than once. */
  readonly duplicates: number;
  readonly seconds: number;
  readonly findings: Findings;
}

const script = new URL('./worker.ts', import.meta.url);

/** A worker that does not catch up within this time has lost something. */
const patienceMs = 180_000;

/** Creates the partner and registers its endpoints through the API. */
async function provision(ostiary: Ostiary, receiver: string): Promise<void> {
  await ostiary.admin.partners.create({ slug: owner.partner, name: 'Acme' });
  const { key } = await ostiary.admin.apiKeys.issue({ ...owner, scopes: ['webhooks'] });
  await serving(ostiary.handler, async (origin) => {
    for (let endpoint = 0; endpoint < endpoints; endpoint += 1)
      await registerEndpoint(origin, key, {
        url: `${receiver}/${endpoint}`,
        events: [typeOf(endpoint)],
        secret,
      });
  });
}

/** Publishes events `from` to `to`, one after the other to each endpoint. */
async function publish(ostiary: Ostiary, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  await Promise.all(
    numbers.map((number) =>
      ostiary.events.publish({ ...owner, type: typeOf(number % endpoints), data: { number } }),
    ),
  );
}

async function reached(holds: () => boolean | Promise<boolean>, everyMs: number): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await holds()) && Date.now() < deadline) await setTimeout(everyMs);
}

async function nothingPending({ deliveries }: Storage): Promise<boolean> {
  const page = { ...owner, endpointId: null, eventId: null, after: null, limit: 1 } as const;
  return (await deliveries.list({ ...page, status: 'pending' })).length === 0;
}

/**
 * Publishes events in portions while a worker in another process delivers them and is killed in the middle
 * of each portion; then lets the last worker finish, and audits what arrived and what is stored.
 */
export async function prove(plan: Plan): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-proof-'));
  const file = join(folder, 'ostiary.db');
  const sealingKey = randomBytes(32).toString('base64url');
  const receiver = new MisbehavingReceiver(plan.behaviour, secret);
  const storage = sqliteStorage({ file });
  const ostiary = await createOstiary(options(storage, sealingKey, Date.now));
  const started = performance.now();
  let worker: KilledProcess | null = null;
  try {
    await provision(ostiary, await receiver.listen());
    worker = new KilledProcess(script, { DATABASE_FILE: file, SEALING_KEY: sealingKey });
    await worker.origin;
    const portion = Math.ceil(plan.deliveries / (plan.kills.length + 1));
    let published = 0;
    for (const { share, delayMs } of plan.kills) {
      const before = receiver.requests;
      const next = Math.min(plan.deliveries, published + portion);
      await publish(ostiary, published, next);
      const enough = before + Math.floor(share * (next - published));
      published = next;
      await reached(() => receiver.requests >= enough, 10);
      await setTimeout(delayMs);
      await worker.kill();
    }
    await publish(ostiary, published, plan.deliveries);
    await reached(() => nothingPending(storage), 200);
    const events = [...receiver.arrivals.values()];
    return {
      plan,
      requests: receiver.requests,
      lost: plan.deliveries - events.filter(({ accepted }) => accepted > 0).length,
      duplicates: events.filter(({ accepted }) => accepted > 1).length,
      seconds: (performance.now() - started) / 1000,
      findings: await audit(storage, receiver, plan.deliveries),
    };
  } finally {
    await worker?.stop();
    await receiver.close();
    await ostiary.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Everything that a run violated. */
export function violationsOf({ findings }: Report): string[] {
  return [...findings].flatMap(([name, problems]) => problems.map((problem) => `${name}: ${problem}`));
}
