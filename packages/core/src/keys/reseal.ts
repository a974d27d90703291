import { setImmediate } from 'node:timers/promises';
import { signingSecretContext } from '../api-key-format.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Queue } from '../ports/queue.ts';
import type { ResealedSecret, SealedSecrets } from '../ports/sealed-secrets.ts';
import type { Storage } from '../ports/storage.ts';
import { webhookSecretContext } from '../webhook-secrets.ts';
import type { JobHandler } from '../worker/worker.ts';
import { type Sealer, UnsealError } from './sealing.ts';

/**
 * The kind of the jobs that seal secrets with the first sealing key which a previous one had sealed. The job that has this
 * as its id comes again and again, because a process that has not been restarted yet goes on sealing with its own first key.
 */
export const resealKind = 'reseal';

const intervalMs = 10 * 60_000;

const batch = 200;

/** Batches that one run writes; what is left then waits for the next run, which comes at once. */
const maxBatches = 50;

/** Secrets that nothing opens are named one by one up to here. */
const maxTold = 100;

/** Makes sure that the jobs exist, where there is a previous sealing key. The first run is due now. */
export async function scheduleReseal(queue: Queue, clock: Clock, sealer: Sealer): Promise<void> {
  if (!sealer.hasPrevious) return;
  const now = clock.now();
  const job = { kind: resealKind, payload: {} };
  await queue.enqueue([
    // A key of its own, since the other job may be there already, and due later.
    { ...job, id: `${resealKind} ${sealer.currentKeyId}`, dueAt: now },
    { ...job, id: resealKind, dueAt: now + intervalMs },
  ]);
}

/** What sealing anew needs. */
export interface ResealOptions {
  readonly storage: Pick<Storage, 'apiKeys' | 'webhooks'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One kind of secrets. */
interface Part {
  /** What a line of the log calls a row. */
  readonly name: 'key' | 'endpoint';
  readonly store: SealedSecrets;
  readonly contextOf: (id: string) => string;
}

/** What one run did. */
interface Run {
  readonly sealed: number;
  /** Secrets that no key opens. They are left as they are. */
  readonly unopened: number;
  readonly isThrough: boolean;
}

/**
 * Seals what a previous key had sealed with the first one, in small batches between which others get their turn. A secret
 * that was changed meanwhile is left as it was changed, so any number of processes may do this at once.
 */
export function resealHandler({ storage, sealer, clock, logger }: ResealOptions): JobHandler {
  const parts: readonly Part[] = [
    { name: 'endpoint', store: storage.webhooks, contextOf: webhookSecretContext },
    { name: 'key', store: storage.apiKeys, contextOf: signingSecretContext },
  ];
  const told = new Set<string>();

  function tell(name: string, id: string, error: UnsealError): void {
    if (told.has(id) || told.size >= maxTold) return;
    told.add(id);
    logger.error({ err: error, [name]: id }, 'a sealed secret cannot be opened; it is left as it is');
  }

  async function run(): Promise<Run> {
    let sealed = 0;
    let unopened = 0;
    let batches = 0;
    for (const { name, store, contextOf } of parts) {
      for (let after: string | null = null; ; ) {
        const rows = await store.listSealed({ after, limit: batch });
        const secrets: ResealedSecret[] = [];
        for (const { id, sealed: before } of rows) {
          if (sealer.isCurrent(before)) continue;
          try {
            secrets.push({ id, before, sealed: sealer.renew(before, contextOf(id)) });
          } catch (error) {
            if (!(error instanceof UnsealError)) throw error;
            unopened += 1;
            tell(name, id, error);
          }
        }
        if (secrets.length > 0) {
          sealed += await store.reseal(secrets);
          batches += 1;
          if (batches === maxBatches) return { sealed, unopened, isThrough: false };
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < batch) break;
        after = last.id;
        // A database that answers at once would let nobody else have a turn.
        await setImmediate();
      }
    }
    return { sealed, unopened, isThrough: true };
  }

  /** By the runs since one was through. */
  let total = 0;

  return async (_payload, { id }) => {
    // Left by processes that had another key too.
    if (!sealer.hasPrevious) return null;
    const { sealed, unopened, isThrough } = await run();
    total += sealed;
    const fields = { sealingKey: sealer.currentKeyId, sealed: total, unopened };
    if (!isThrough) {
      logger.debug(fields, 'secrets are being sealed with the first sealing key');
      return { dueAt: clock.now() };
    }
    const isNews = total > 0 || id !== resealKind;
    total = 0;
    if (unopened > 0) logger.warn(fields, 'some secrets are not sealed with the first sealing key');
    else logger[isNews ? 'info' : 'debug'](fields, 'all secrets are sealed with the first sealing key');
    return id === resealKind ? { dueAt: clock.now() + intervalMs } : null;
  };
}
