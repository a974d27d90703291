import type { ApiKeyStore } from './api-keys.ts';
import type { AuditStore } from './audit.ts';
import type { ClientStore } from './clients.ts';
import type { DeliveryStore } from './deliveries.ts';
import type { EventStore } from './events.ts';
import type { ConsentStore, GrantStore } from './grants.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InteractionStore } from './interactions.ts';
import type { PartnerStore } from './partners.ts';
import type { Queue, WakeUps } from './queue.ts';
import type { AddressCounts } from './rate-limits.ts';
import type { RequestLog } from './request-log.ts';
import type { SandboxStore } from './sandbox.ts';
import type { SigningKeyStore } from './signing-keys.ts';
import type { Survey, SurveyRequest } from './survey.ts';
import type { TransferStore } from './transfers.ts';
import type { WebhookEndpointStore } from './webhooks.ts';

/** Number of rows of each kind that one purge removed. */
export interface PurgeCount {
  readonly interactions: number;
  readonly answers: number;
  readonly sandbox: number;
  readonly tokens: number;
  readonly refreshTokens: number;
  readonly grants: number;
  readonly idempotency: number;
  readonly events: number;
  readonly deliveries: number;
  readonly rateLimits: number;
}

/** Longest times for which work of each kind can wait, in milliseconds. */
export interface LongestWaits {
  /** A lease ends no later than so long after its claim. */
  readonly leaseMs: number;
  readonly jobs: {
    /** Longest wait of jobs that did not fail: before their first claim, and after a claim that handed them back. */
    readonly kinds: { readonly [kind: string]: { readonly firstMs: number; readonly againMs: number } };
    /** After the first failure of a job, the second and so on; the last one holds for all further ones. At least one. */
    readonly retryMs: readonly number[];
  };
  readonly deliveries: {
    /** Before the first failure, after the first, the second and so on; the last one holds for all further ones. At least one. */
    readonly delaysMs: readonly number[];
  };
}

/** Total number, with requests of the log. */
export type Purged = PurgeCount & { readonly requests: number };

/**
 * All stored data. Changes that must commit together are one call, which an adapter makes one transaction.
 *
 * - Stores never read a clock: times are arguments, in milliseconds since the Unix epoch.
 * - Expected outcomes are return values. A call that throws means that the database broke: the error has
 *   `code: 'STORAGE_UNAVAILABLE'`, the request is answered with 503, and nothing was changed.
 * - A call that takes an `audit` record stores it in the same transaction, when it changed what it was asked to,
 *   and not otherwise.
 * - Digests are 32 bytes. Ids and scopes are compared as they are, case included.
 */
export interface Storage {
  readonly clients: ClientStore;
  readonly grants: GrantStore;
  readonly consents: ConsentStore;
  readonly interactions: InteractionStore;
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
  readonly sandbox: SandboxStore;
  /** Counts of requests that processes share. Without it each process has its own. */
  readonly rateLimits?: AddressCounts;
  /**
   * Notifications of new work between processes. Without it the workers of others find work when they poll.
   */
  readonly wakeUps?: WakeUps;

  /**
   * Opens the database and brings its schema up to date. Called once, before anything else.
   *
   * @param onWait - called every few seconds while the database is not there yet, with the reason
   */
  open(onWait?: (reason: Error) => void): Promise<void>;

  /** Resolves when the database answers. */
  ping(): Promise<void>;

  /**
   * The time by the database's clock, in milliseconds since the Unix epoch: where many machines share a database, core
   * follows this one. Optional; without it core goes by the clock of its machine.
   */
  time?(): Promise<number>;

  /**
   * Counts rows that wait, failed, or are sealed with another key. Changes nothing, and always runs the same
   * statements.
   */
  survey(request: SurveyRequest): Promise<Survey>;

  /**
   * Removes rows that are no longer needed, at most `limit` of each kind in this call: interactions, their
   * answers and records of the sandbox that ended before `now`; access and refresh tokens that ended before
   * `before`; records of idempotency keys that ended before `now`; grants whose code ended before `before`
   * and that have no token left; final deliveries with their attempts that were created before
   * `eventsBefore`; events created before `eventsBefore` without deliveries, always from the beginning of a
   * sequence, so that the rest has no gap; and counts of requests whose window ended a minute before `now`.
   */
  purge(request: {
    readonly now: number;
    readonly before: number;
    readonly eventsBefore: number;
    readonly limit: number;
  }): Promise<PurgeCount>;

  /**
   * Brings work forward that waits for longer than it can: it was stored before the clock went back. At most `limit` jobs and as many
   * deliveries in this call. What is due later than `now`, its longest wait and `toleranceMs` together becomes due after its
   * longest wait. A lease that ends later than `now + leaseMs + toleranceMs` ends at `now + leaseMs`; its claim stays the current
   * one. Jobs of other kinds stay as they are. Endpoints that were served later than `now + toleranceMs` take their turn as if
   * they had been served now.
   * @returns how many of each were brought forward
   */
  boundWaits(
    request: LongestWaits & { readonly now: number; readonly toleranceMs: number; readonly limit: number },
  ): Promise<{ readonly jobs: number; readonly deliveries: number }>;

  /** Waits for writes under way and closes. Repeatable. */
  close(): Promise<void>;
}
