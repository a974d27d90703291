import { setImmediate } from 'node:timers/promises';
import { UnsealError } from '../keys/sealing.ts';
import { webhookSecretContext } from '../keys/webhook-secrets.ts';
import type { Core } from '../options/context.ts';
import type { JobHandler } from '../ports/queue.ts';
import type { ResealedSecret, SealedSecrets } from '../ports/sealed-secrets.ts';
import { signingSecretContext } from '../secrets/api-key-format.ts';

/**
 * The kind of the jobs that seal secrets with the first sealing key which a previous one had sealed. The job that has this
 * as its id comes again and again, because a process that has not been restarted yet goes on sealing with its own first key.
 */
export const resealKind = 'reseal';

/** Time between two runs, in milliseconds. */
export const resealIntervalMs = 10 * 60_000;

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
    // Another key, because the other job may exist already and be due later.
    { ...job, id: `${resealKind} ${sealer.currentKeyId}`, dueAt: now },
    { ...job, id: resealKind, dueAt: now + resealIntervalMs },
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

/** Stores with secrets, under the names that the log uses. */
const tablesOf = ({ storage }: Core) => [
  { name: 'endpoint', store: storage.webhooks, contextOf: webhookSecretContext },
  { name: 'key', store: storage.apiKeys, contextOf: signingSecretContext },
];

/** Numbers of secrets that a previous key had sealed, by result. */
export interface Resealed {
  /** Sealed with the first key now. */
  readonly sealed: number;
  /** Opened by no key, and left as they are. */
  readonly unopened: number;
}

/**
 * Seals a batch anew. A secret that was changed meanwhile is left as it is, so any number of processes may do this at once.
 * @returns how many it has written, `null` where there was none to write
 */
async function resealBatch(
  { sealer }: Core,
  { store, contextOf }: ReturnType<typeof tablesOf>[number],
  rows: Awaited<ReturnType<SealedSecrets['listSealed']>>,
  unopened: (id: string, error: UnsealError) => void,
): Promise<number | null> {
  const secrets: ResealedSecret[] = [];
  for (const { id, sealed: before } of rows) {
    if (sealer.isCurrent(before)) continue;
    try {
      secrets.push({ id, before, sealed: sealer.renew(before, contextOf(id)) });
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      unopened(id, error);
    }
  }
  return secrets.length === 0 ? null : store.reseal(secrets);
}

/**
 * Seals all secrets with the first sealing key now.
 * @param told - called after each batch with how many secrets were looked at, and how many there are
 */
export async function resealNow(
  core: Core,
  told: (done: number, of: number) => void = () => undefined,
): Promise<Resealed> {
  const tables = tablesOf(core);
  let of = 0;
  for (const { store } of tables) for await (const rows of batchesOf(store)) of += rows.length;
  let [done, sealed, unopened] = [0, 0, 0];
  for (const table of tables) {
    for await (const rows of batchesOf(table.store)) {
      const count = await resealBatch(core, table, rows, () => {
        unopened += 1;
      });
      sealed += count ?? 0;
      done += rows.length;
      told(done, Math.max(of, done));
    }
  }
  return { sealed, unopened };
}

/** Seals secrets anew as a job, so many batches at a time. */
export function resealHandler(core: Core): JobHandler {
  const { sealer, clock } = core;
  const { logger } = core.options;
  const told = new Set<string>();
  /** Secrets that were sealed by the runs since one was through. */
  let sealed = 0;

  return async (_payload, job) => {
    // Left by processes that had another key too.
    if (!sealer.hasPrevious) return null;
    let unopened = 0;
    let written = 0;
    for (const table of tablesOf(core)) {
      for await (const rows of batchesOf(table.store)) {
        if (written === maxBatches) return { dueAt: clock.now() };
        const count = await resealBatch(core, table, rows, (id, err) => {
          unopened += 1;
          if (told.has(id) || told.size >= maxTold) return;
          told.add(id);
          logger.error({ err, [table.name]: id }, 'a sealed secret cannot be opened; it is left as it is');
        });
        if (count === null) continue;
        sealed += count;
        written += 1;
      }
    }
    const fields = { sealingKey: sealer.currentKeyId, sealed, unopened };
    const isNews = sealed > 0 || job.id !== resealKind;
    sealed = 0;
    if (unopened > 0) logger.warn(fields, 'some secrets are not sealed with the first sealing key');
    else logger[isNews ? 'info' : 'debug'](fields, 'all secrets are sealed with the first sealing key');
    return job.id === resealKind ? { dueAt: clock.now() + resealIntervalMs } : null;
  };
}
