import { setImmediate } from 'node:timers/promises';
import { signingSecretContext } from '../api-key-format.ts';
import type { Core } from '../context.ts';
import type { JobHandler } from '../ports/queue.ts';
import type { ResealedSecret, SealedSecrets } from '../ports/sealed-secrets.ts';
import { webhookSecretContext } from '../webhook-secrets.ts';
import { UnsealError } from './sealing.ts';

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
export async function scheduleReseal({ storage, clock, sealer }: Core): Promise<void> {
  if (!sealer.hasPrevious) return;
  const now = clock.now();
  const job = { kind: resealKind, payload: {} };
  await storage.queue.enqueue([
    // A key of its own, since the other job may be there already, and due later.
    { ...job, id: `${resealKind} ${sealer.currentKeyId}`, dueAt: now },
    { ...job, id: resealKind, dueAt: now + intervalMs },
  ]);
}

/** The rows of a table in batches, between which others get their turn: a database that answers at once would leave none. */
async function* batchesOf(store: SealedSecrets) {
  let after: string | null = null;
  do {
    const rows = await store.listSealed({ after, limit: batch });
    yield rows;
    after = rows.length < batch ? null : (rows.at(-1)?.id ?? null);
    await setImmediate();
  } while (after !== null);
}

/** A secret that was changed meanwhile is left as it is, so any number of processes may do this at once. */
export function resealHandler({ storage, sealer, clock, options: { logger } }: Core): JobHandler {
  /** Their names are those of the log. */
  const tables = [
    { name: 'endpoint', store: storage.webhooks, contextOf: webhookSecretContext },
    { name: 'key', store: storage.apiKeys, contextOf: signingSecretContext },
  ];
  const told = new Set<string>();
  /** Secrets that were sealed by the runs since one was through. */
  let sealed = 0;

  return async (_payload, job) => {
    // Left by processes that had another key too.
    if (!sealer.hasPrevious) return null;
    let unopened = 0;
    let written = 0;
    for (const { name, store, contextOf } of tables) {
      for await (const rows of batchesOf(store)) {
        if (written === maxBatches) return { dueAt: clock.now() };
        const secrets: ResealedSecret[] = [];
        for (const { id, sealed: before } of rows) {
          if (sealer.isCurrent(before)) continue;
          try {
            secrets.push({ id, before, sealed: sealer.renew(before, contextOf(id)) });
          } catch (error) {
            if (!(error instanceof UnsealError)) throw error;
            unopened += 1;
            if (told.has(id) || told.size >= maxTold) continue;
            told.add(id);
            logger.error({ err: error, [name]: id }, 'a sealed secret cannot be opened; it is left as it is');
          }
        }
        if (secrets.length === 0) continue;
        sealed += await store.reseal(secrets);
        written += 1;
      }
    }
    const fields = { sealingKey: sealer.currentKeyId, sealed, unopened };
    const isNews = sealed > 0 || job.id !== resealKind;
    sealed = 0;
    if (unopened > 0) logger.warn(fields, 'some secrets are not sealed with the first sealing key');
    else logger[isNews ? 'info' : 'debug'](fields, 'all secrets are sealed with the first sealing key');
    return job.id === resealKind ? { dueAt: clock.now() + intervalMs } : null;
  };
}
