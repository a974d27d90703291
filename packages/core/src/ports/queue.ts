import type { JsonObject } from './interactions.ts';
import type { OwnerName, Shares } from './shares.ts';

/** A job to be done later, at least once. Times are milliseconds since the Unix epoch. */
export interface NewJob {
  /** Unique; enqueueing an id that is stored already has no effect. */
  readonly id: string;
  readonly kind: string;
  readonly payload: JsonObject;
  /** Not claimed before. */
  readonly dueAt: number;
  /** Owner of the work, for fair shares. @defaultValue `''`, the host's */
  readonly owner?: OwnerName;
}

/** A job that this worker holds until its lease ends. */
export interface ClaimedJob extends NewJob {
  /** Id of the claim. Results of an earlier claim are refused. */
  readonly claimId: string;
  /** 1 on the first claim, one more on each further one. */
  readonly attempt: number;
  readonly owner: OwnerName;
}

/** Result of a job handler. `null`: done, remove the job. */
export type JobResult = { readonly dueAt: number } | null;

/** Does the work of one kind of job. Throwing means: try again later. */
export type JobHandler = (payload: JsonObject, job: ClaimedJob) => Promise<JobResult>;

/** Proof that a result belongs to the current claim of a job. */
export type Claim = Pick<ClaimedJob, 'id' | 'claimId'>;

/**
 * Durable work, on the same database as the storage, so that a job commits with the change that causes it.
 * A worker that dies loses nothing: its claims end with their lease, and another worker takes over.
 */
export interface Queue {
  /** Stores jobs in one transaction; ids that exist are left as they are. */
  enqueue(jobs: readonly NewJob[]): Promise<void>;

  /**
   * Claims due jobs (`dueAt <= now`, unclaimed or with an ended lease) of these kinds, at most `limit`: oldest due first, and those of
   * test mode after all others. Of a kind that `shares` names at most as many as it has places, and of one owner at most its share. No job is ever given to two claims whose leases overlap. `claimId` marks all jobs of this
   * call.
   */
  claim(request: {
    readonly kinds: readonly string[];
    readonly claimId: string;
    readonly now: number;
    readonly leaseMs: number;
    readonly limit: number;
    /** By kind. */
    readonly shares?: ReadonlyMap<string, Shares>;
  }): Promise<ClaimedJob[]>;

  /**
   * Removes a job that is done. `false` when the claim is no longer the current one; nothing is changed then.
   */
  complete(claim: Claim): Promise<boolean>;

  /** Hands a job back, due again at `dueAt`. `false` as above. */
  retry(claim: Claim, next: { readonly dueAt: number; readonly error: string | null }): Promise<boolean>;
}

/** Kinds of work for which workers poll. */
export type Work = 'jobs' | 'deliveries';

/**
 * Hints to the workers of other processes that there is new work. Correctness does not depend on them: a hint
 * may be lost or come twice, and workers poll anyway.
 */
export interface WakeUps {
  /**
   * Announces work that is committed. Returns at once and never throws. One hint may stand for many calls.
   */
  notify(work: Work): void;

  /**
   * Calls `hear` with each hint, and with both kinds whenever it starts to listen, because hints may have
   * been missed before: at first, and after its connection was lost. Never called if it cannot listen. Never
   * throws.
   *
   * @returns how to end it; `close` of the storage ends it too
   */
  listen(hear: (work: Work) => void): () => void;
}
