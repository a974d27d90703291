import { setImmediate } from 'node:timers/promises';
import { UnsealError } from '../keys/sealing.ts';
import { webhookSecretContext } from '../keys/webhook-secrets.ts';
import type { Core } from '../options/context.ts';
import type { Resealed } from '../ports/host-secrets.ts';
import type { JobHandler } from '../ports/queue.ts';
import type { ResealedSecret, SealedSecrets } from '../ports/sealed-secrets.ts';
import { signingSecretContext } from '../secrets/api-key-format.ts';
import { resealHostSecrets } from './host-secrets.ts';

/**
 * Kind of the jobs that encrypt secrets of a previous sealing key with the first one. The job with this text
 * as its id repeats itself, because a process that was not restarted yet still encrypts secrets with its own
 * first key.
 */
export const resealKind = 'reseal';

/** Time between two runs of the reseal job, in milliseconds. */
export const resealIntervalMs = 10 * 60_000;

const batch = 200;

/**
 * Maximum number of batches of secrets that one run of the reseal job writes, portions of the host application
 * included. The rest waits for the next run, which follows at once.
 */
const maxBatches = 50;

/** Maximum number of undecryptable secrets for which this process writes a log line each. */
const maxReported = 100;

/**
 * Enqueues the reseal jobs if there is a previous sealing key and the jobs do not exist yet. The first run is
 * due now.
 */
export async function scheduleReseal({ storage, clock, sealer }: Core): Promise<void> {
  if (!sealer.hasPrevious) return;
  const now = clock.now();
  const job = { kind: resealKind, payload: {} };
  await storage.queue.enqueue([
    // An id per key, because the repeating job may exist already and be due later.
    { ...job, id: `${resealKind} ${sealer.currentKeyId}`, dueAt: now },
    { ...job, id: resealKind, dueAt: now + resealIntervalMs },
  ]);
}

/**
 * Reads the rows with secrets of a table in batches. Waits a turn of the event loop after each batch; with a
 * database that responds at once, other requests could not run otherwise.
 */
async function* batchesOf(store: SealedSecrets) {
  let after: string | null = null;
  do {
    const rows = await store.listSealed({ after, limit: batch });
    yield rows;
    after = rows.length < batch ? null : (rows.at(-1)?.id ?? null);
    await setImmediate();
  } while (after !== null);
}

/**
 * Lists the stores with secrets that live long, under the names that the log uses. Signing keys are left out:
 * every start of a process encrypts them with the first sealing key.
 */
const tablesOf = ({ storage }: Core) => [
  { name: 'endpoint', store: storage.webhooks, contextOf: webhookSecretContext },
  { name: 'key', store: storage.apiKeys, contextOf: signingSecretContext },
];

/**
 * Encrypts a batch of secrets with the first sealing key. Secrets that were changed in the meantime stay as
 * they are, so several processes may do this concurrently.
 * @returns the number of changed secrets; `null` if none had to be changed
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
 * Encrypts the secrets of webhook endpoints, API keys and finally the host application with the first sealing
 * key.
 * @param onProgress - called after each batch with the number of Ostiary's own secrets checked so far, and
 * their total
 */
export async function resealNow(
  core: Core,
  onProgress: (done: number, of: number) => void = () => undefined,
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
      onProgress(done, Math.max(of, done));
    }
  }
  const ofHost = await resealHostSecrets(core);
  return { sealed: sealed + ofHost.sealed, unopened: unopened + ofHost.unopened };
}

/**
 * Creates the job handler that encrypts secrets with the first sealing key, a limited number of batches per
 * run.
 */
export function resealHandler(core: Core): JobHandler {
  const { sealer, clock } = core;
  const { logger } = core.options;
  const reported = new Set<string>();
  /**
   * Number of secrets that were encrypted again, with the current sealing key, since the last complete pass
   * over all tables.
   */
  let sealed = 0;

  return async (_payload, job) => {
    // The job is left over from processes that had a previous key.
    if (!sealer.hasPrevious) return null;
    let unopened = 0;
    let written = 0;
    for (const table of tablesOf(core)) {
      for await (const rows of batchesOf(table.store)) {
        if (written === maxBatches) return { dueAt: clock.now() };
        const count = await resealBatch(core, table, rows, (id, err) => {
          unopened += 1;
          if (reported.has(id) || reported.size >= maxReported) return;
          reported.add(id);
          logger.error({ err, [table.name]: id }, 'a sealed secret cannot be opened; it is left as it is');
        });
        if (count === null) continue;
        sealed += count;
        written += 1;
      }
    }
    const ofHost = await resealHostSecrets(core, maxBatches - written);
    sealed += ofHost.sealed;
    if (ofHost.hasMore) return { dueAt: clock.now() };
    unopened += ofHost.unopened;
    const fields = { sealingKey: sealer.currentKeyId, sealed, unopened };
    const isNews = sealed > 0 || job.id !== resealKind;
    sealed = 0;
    if (unopened > 0) logger.warn(fields, 'some secrets are not sealed with the first sealing key');
    else logger[isNews ? 'info' : 'debug'](fields, 'all secrets are sealed with the first sealing key');
    return job.id === resealKind ? { dueAt: clock.now() + resealIntervalMs } : null;
  };
}
