import type { ApiKeyStore } from './api-keys.ts';
import type { AuditStore } from './audit.ts';
import type { ClientDocumentStore } from './client-documents.ts';
import type { ClientStore } from './clients.ts';
import type { DeliveryStore } from './deliveries.ts';
import type { EventStore } from './events.ts';
import type { ConsentStore, GrantStore } from './grants.ts';
import type { HourlyCountStore } from './hourly-counts.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InboxStore } from './inbox.ts';
import type { InteractionAnswerStore } from './interaction-answers.ts';
import type { InteractionStore } from './interactions.ts';
import type { NoticeStore } from './notices.ts';
import type { PartnerStore } from './partners.ts';
import type { PortalStore } from './portal.ts';
import type { PushedRequestStore } from './pushed-requests.ts';
import type { Queue, WakeUps } from './queue.ts';
import type { AddressCounts } from './rate-limits.ts';
import type { RequestLog } from './request-log.ts';
import type { SandboxStore } from './sandbox.ts';
import type { SigningKeyStore } from './signing-keys.ts';
import type { Survey, SurveyRequest } from './survey.ts';
import type { TransferStore } from './transfers.ts';
import type { UsedIdStore } from './used-ids.ts';
import type { WebhookEndpointStore } from './webhooks.ts';

/** Number of rows of each kind that one call of `purge` removed. */
export interface PurgeCount {
  readonly interactions: number;
  readonly answers: number;
  readonly sandbox: number;
  readonly proofIds: number;
  readonly pushedRequests: number;
  readonly portal: number;
  readonly tokens: number;
  readonly refreshTokens: number;
  readonly grants: number;
  readonly idempotency: number;
  readonly events: number;
  readonly deliveries: number;
  readonly rateLimits: number;
}

/**
 * Longest times that regular work can wait, in milliseconds. Work that would wait longer was stored before
 * the clock was set back.
 */
export interface LongestWaits {
  /** Longest duration of a lease on a job or delivery. */
  readonly leaseMs: number;
  readonly jobs: {
    /**
     * Longest waits of jobs that did not fail, by kind of job: before the first claim, and after a claim that
     * handed the job back.
     */
    readonly kinds: { readonly [kind: string]: { readonly firstMs: number; readonly againMs: number } };
    /**
     * Longest waits after the first failure of a job, the second and so on; the last value applies to all
     * further failures. Has at least one element.
     */
    readonly retryMs: readonly number[];
  };
  readonly deliveries: {
    /**
     * Longest waits of a delivery before its first failure, after the first, the second and so on; the last
     * value applies to all further failures. Has at least one element.
     */
    readonly delaysMs: readonly number[];
  };
}

/**
 * Number of removed rows of each kind over a whole purge, including requests of the request log, clients with
 * metadata documents, and hourly counts.
 */
export type Purged = PurgeCount & {
  readonly requests: number;
  readonly clientDocuments: number;
  readonly hourlyCounts: number;
};

/**
 * All stores of a database. Changes that must commit together are one call, which an adapter makes in one
 * transaction.
 *
 * - Stores never read a clock: times are arguments, in milliseconds since the Unix epoch.
 * - Expected outcomes are return values. A call throws only if the database failed: the error has
 *   `code: 'STORAGE_UNAVAILABLE'`, and the request gets a 503. Nothing was changed, unless the connection broke
 *   during the commit: then only the database knows.
 * - A call that takes an `audit` record stores it in the same transaction, but only if the call made its change.
 * - Digests are 32 bytes, except those of imported client secrets. Ids and scopes are compared as they are, case included.
 */
export interface Storage {
  readonly clients: ClientStore;
  readonly clientDocuments: ClientDocumentStore;
  readonly grants: GrantStore;
  readonly consents: ConsentStore;
  readonly interactions: InteractionStore;
  readonly interactionAnswers: InteractionAnswerStore;
  readonly signingKeys: SigningKeyStore;
  readonly partners: PartnerStore;
  readonly apiKeys: ApiKeyStore;
  readonly idempotency: IdempotencyStore;
  readonly transfers: TransferStore;
  readonly webhooks: WebhookEndpointStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly queue: Queue;
  readonly audit: AuditStore;
  readonly requestLog: RequestLog;
  readonly inbox: InboxStore;
  readonly hourlyCounts: HourlyCountStore;
  readonly notices: NoticeStore;
  readonly sandbox: SandboxStore;
  readonly proofIds: UsedIdStore;
  readonly pushedRequests: PushedRequestStore;
  readonly portal: PortalStore;
  /** Rate limit counts that all processes share. If left out, each process counts for itself. */
  readonly rateLimits?: AddressCounts;
  /**
   * Notifications of new work between processes. If left out, workers of other processes find new work when
   * they poll.
   */
  readonly wakeUps?: WakeUps;

  /**
   * Opens the database and brings its schema up to date. Called once, before any other call.
   *
   * @param onWait - called every few seconds while the database cannot be reached yet, with the reason
   */
  open(onWait?: (reason: Error) => void): Promise<void>;

  /** Resolves when the database responds, and rejects otherwise. */
  ping(): Promise<void>;

  /**
   * Returns the time of the database's clock in milliseconds since the Unix epoch. Core follows this clock
   * where many machines share a database. If left out, core uses the clock of its machine.
   */
  time?(): Promise<number>;

  /**
   * Counts rows that wait, that failed, or that are encrypted with another sealing key than the first.
   * Changes nothing, and always runs the same statements.
   */
  survey(request: SurveyRequest): Promise<Survey>;

  /**
   * Removes rows that are no longer needed, at most `limit` of each kind per call. These rows are:
   * interactions, their responses, pushed requests, sandbox records, links and sessions of the portal, and
   * ids of used proofs (DPoP proofs and client assertions) that expired before `now`; access and refresh
   * tokens that expired before `before`; idempotency records that expired before `now`; grants whose code
   * expired before `before` and that have no token left; final deliveries with their attempts that were
   * created before `eventsBefore`; events created before `eventsBefore` without deliveries, always from the
   * beginning of a sequence, so that the rest has no gap; and rate limit counts whose window ended a minute
   * before `now`.
   */
  purge(request: {
    readonly now: number;
    readonly before: number;
    readonly eventsBefore: number;
    readonly limit: number;
  }): Promise<PurgeCount>;

  /**
   * Shortens waits that are longer than regular work can have, because the work was stored before the clock
   * was set back. Changes at most `limit` jobs and `limit` deliveries per call. Work that is due later than
   * `now`, its longest wait and `toleranceMs` together becomes due after its longest wait. A lease that
   * expires later than `now + leaseMs + toleranceMs` then expires at `now + leaseMs`, and its claim stays the
   * current one. Jobs of kinds that are not listed stay as they are. Endpoints that were last served later
   * than `now + toleranceMs` take their turn as if served now.
   * @returns the number of changed jobs and deliveries, including those with a shortened lease
   */
  boundWaits(
    request: LongestWaits & { readonly now: number; readonly toleranceMs: number; readonly limit: number },
  ): Promise<{ readonly jobs: number; readonly deliveries: number }>;

  /** Waits for running writes and closes the database. May be called repeatedly. */
  close(): Promise<void>;
}
