import type { Owner } from './partners.ts';
import type { FailingEndpoint } from './webhooks.ts';

/** Number and age of jobs or deliveries that are due but not claimed. */
export interface Waiting {
  readonly count: number;
  /** Due time of the oldest work; `null` if there is none. */
  readonly oldestDueAt: number | null;
}

/** An endpoint with dropped deliveries: deliveries whose last attempt failed. */
export interface DroppedEndpoint extends Owner {
  readonly endpointId: string;
  readonly url: string;
  readonly count: number;
}

/**
 * Counts for an operator's overview of the service. Counting stops at a limit, so that the overview does not
 * slow down the service.
 */
export interface Survey {
  readonly jobs: Waiting;
  readonly deliveries: Waiting;
  /** Number of jobs that failed and will be tried again. */
  readonly failingJobs: number;
  /**
   * Endpoints with deliveries dropped since `droppedSince`, most dropped deliveries first, then by endpoint
   * id. Leaves out removed endpoints.
   */
  readonly droppedEndpoints: readonly DroppedEndpoint[];
  /**
   * Number of endpoints that fail now: those whose last attempt failed since `droppedSince`, and those with a
   * delivery that waits for another attempt.
   */
  readonly failing: number;
  /**
   * Endpoints that fail now, at most `shown`: those that have been failing for the longest time first, then
   * by endpoint id.
   */
  readonly failingEndpoints: readonly FailingEndpoint[];
  /**
   * Number of secrets in use that are encrypted with another sealing key than the first. Secrets of revoked
   * or expired API keys are not in use.
   */
  readonly sealedOtherwise: number;
}

/** Parameters of the counts for the operators' overview. */
export interface SurveyRequest {
  readonly now: number;
  /**
   * Start of the period in which dropped deliveries and the last failed attempts of failing endpoints count,
   * in milliseconds since the Unix epoch.
   */
  readonly droppedSince: number;
  /** Prefix by which secrets that are encrypted with the first sealing key are recognized. */
  readonly sealedWith: string;
  /** Number at which each count stops. */
  readonly limit: number;
  /** Maximum number of failing endpoints to return. */
  readonly shown: number;
}
