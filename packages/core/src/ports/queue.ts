import type { JsonObject } from './interactions.ts';
import type { OwnerName, Shares } from './shares.ts';

/** A job of the queue, to be done later, at least once. Times are milliseconds since the Unix epoch. */
export interface NewJob {
  /** Unique id of the job. If a job with this id is stored already, enqueueing has no effect. */
  readonly id: string;
  readonly kind: string;
  readonly payload: JsonObject;
  /** Earliest time at which the job may be claimed. */
  readonly dueAt: number;
  /**
   * Partner and mode, or client, on whose behalf the job runs, for the fair division of a worker's places.
   * @defaultValue `''`, the host application
   */
  readonly owner?: OwnerName;
}

/** A job that a worker has claimed until its lease expires. */
export interface ClaimedJob extends NewJob {
  /** Id of the claim. Results that name an earlier claim of the job are refused. */
  readonly claimId: string;
  /** Number of claims of the job so far, this one included. */
  readonly attempt: number;
  readonly owner: OwnerName;
}

/**
 * Result of a job handler. `null` means that the job is done and removed. Otherwise the job runs again at
 * `dueAt`.
 */
export type JobResult = { readonly dueAt: number } | null;

/** Function that runs jobs of one kind. If it throws, the job is tried again later. */
export type JobHandler = (payload: JsonObject, job: ClaimedJob) => Promise<JobResult>;

/** Identifies the current claim of a job, so that results of earlier claims can be refused. */
export type Claim = Pick<ClaimedJob, 'id' | 'claimId'>;

/**
 * Durable job queue on the same database as the storage, so that a job commits with the change that causes
 * it. If a worker dies, no job is lost: when the lease expires, another worker takes over.
 */
export interface Queue {
  /** Stores jobs in one transaction. Jobs whose id is already stored are left unchanged. */
  enqueue(jobs: readonly NewJob[]): Promise<void>;

  /**
   * Claims at most `limit` due jobs (`dueAt <= now`, unclaimed or with an expired lease) of the given kinds.
   * Takes live mode before test mode, and the oldest due first. `shares` limits the claimed jobs per kind and
   * per owner. No job is given to two claims whose leases overlap. Marks all claimed jobs with `claimId`.
   */
  claim(request: {
    readonly kinds: readonly string[];
    readonly claimId: string;
    readonly now: number;
    readonly leaseMs: number;
    readonly limit: number;
    /** Limits of the claim per kind of job. Kinds that are not named are limited only by `limit`. */
    readonly shares?: ReadonlyMap<string, Shares>;
  }): Promise<ClaimedJob[]>;

  /**
   * Removes a job that is done. Returns `false` and changes nothing if another worker has claimed the job in
   * the meantime.
   */
  complete(claim: Claim): Promise<boolean>;

  /**
   * Hands a claimed job back to the queue, due again at `dueAt`. Returns `false` and changes nothing if
   * another worker has claimed the job in the meantime.
   */
  retry(claim: Claim, next: { readonly dueAt: number; readonly error: string | null }): Promise<boolean>;
}

/** Kinds of work for which workers poll. */
export type Work = 'jobs' | 'deliveries';

/**
 * Notifies the workers of other processes of new work. An optimization only: a notification may be lost or
 * repeated, and workers poll anyway.
 */
export interface WakeUps {
  /**
   * Announces work that was committed. Returns at once and never throws. Several calls may be combined into
   * one notification.
   */
  notify(work: Work): void;

  /**
   * Calls `hear` for each notification of new work. Also calls it with both kinds of work whenever listening
   * starts, at first and after a lost connection, because notifications may have been missed. Never calls
   * `hear` if the storage cannot listen. Never throws.
   *
   * @returns a function that stops listening; closing the storage stops it too
   */
  listen(hear: (work: Work) => void): () => void;
}
