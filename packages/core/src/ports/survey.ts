import type { Owner } from './partners.ts';

/** Work that is due and not claimed. */
export interface Waiting {
  readonly count: number;
  /** Due time of the oldest work; `null` if there is none. */
  readonly oldestDueAt: number | null;
}

/** An endpoint to which deliveries were given up. */
export interface FailingEndpoint extends Owner {
  readonly endpointId: string;
  readonly url: string;
  readonly count: number;
}

/**
 * Overview for an operator. Each count stops at a limit, so that the overview does not slow down the service.
 */
export interface Survey {
  readonly jobs: Waiting;
  readonly deliveries: Waiting;
  /** Jobs that failed and are tried again. */
  readonly failingJobs: number;
  /**
   * Endpoints with deliveries that were given up since a time, those with most of them first, then by the id
   * of the endpoint. Removed endpoints are left out.
   */
  readonly failingEndpoints: readonly FailingEndpoint[];
  /** Secrets in use that another sealing key than the first has sealed. Those of API keys that have ended are not in use. */
  readonly sealedOtherwise: number;
}

/** Filter of the overview. */
export interface SurveyRequest {
  readonly now: number;
  /** From when on deliveries that were given up are counted. */
  readonly droppedSince: number;
  /** Prefix of secrets that the first sealing key has sealed. */
  readonly sealedWith: string;
  /** Maximum count of each kind. */
  readonly limit: number;
}
