import type { Claim, ClaimedJob, NewJob, Queue } from '@ostiary/core/storage';
import type { Step } from './step.ts';
import { byCodeUnit, type JobRow, type Tables } from './tables.ts';

export function memoryQueue(step: Step): Queue {
  return {
    enqueue: (jobs) =>
      step((tables) => {
        // All texts first: when one payload is no JSON, no job is stored.
        for (const row of jobs.map(jobRowOf)) storeJob(tables, row);
      }),

    claim: ({ kinds, claimId, now, leaseMs, limit }) =>
      step((tables) =>
        [...tables.jobs.values()]
          .filter((job) => kinds.includes(job.kind) && isDue(job, now))
          .sort((a, b) => a.dueAt - b.dueAt || byCodeUnit(a.id, b.id))
          .slice(0, limit)
          .map((job) => {
            const claimed = { ...job, claimId, leaseEndsAt: now + leaseMs, attempt: job.attempt + 1 };
            tables.jobs.set(job.id, claimed);
            return shown(claimed, claimId);
          }),
      ),

    complete: (claim) =>
      step((tables) => current(tables, claim) !== undefined && tables.jobs.delete(claim.id)),

    retry: (claim, { dueAt, error }) =>
      step((tables) => {
        const job = current(tables, claim);
        if (job === undefined) return false;
        tables.jobs.set(job.id, { ...job, dueAt, error, claimId: null, leaseEndsAt: null });
        return true;
      }),
  };
}

const unclaimed = { attempt: 0, claimId: null, leaseEndsAt: null, error: null } as const;

/** A job that nobody has claimed yet. */
export function jobRowOf({ id, kind, payload, dueAt }: NewJob): JobRow {
  return { ...unclaimed, id, kind, payload: JSON.stringify(payload), dueAt };
}

/** Stores a job, unless there is one with its id. */
export function storeJob(tables: Tables, row: JobRow): void {
  if (!tables.jobs.has(row.id)) tables.jobs.set(row.id, row);
}

function isDue(job: JobRow, now: number): boolean {
  return job.dueAt <= now && (job.leaseEndsAt === null || job.leaseEndsAt <= now);
}

/** The job, while this claim is the last one that took it. */
function current(tables: Tables, claim: Claim): JobRow | undefined {
  const job = tables.jobs.get(claim.id);
  return job?.claimId === claim.claimId ? job : undefined;
}

function shown(job: JobRow, claimId: string): ClaimedJob {
  const { id, kind, payload, dueAt, attempt } = job;
  return { id, kind, payload: JSON.parse(payload), dueAt, claimId, attempt };
}
