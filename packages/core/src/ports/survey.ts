import type { Owner } from './partners.ts';

/** What is due and held by nobody. */
export interface Waiting {
  readonly count: number;
  /** When the oldest of those was due; `null` where there is none. */
  readonly oldestDueAt: number | null;
}

/** An endpoint to which deliveries were given up. */
export interface FailingEndpoint extends Owner {
  readonly endpointId: string;
  readonly url: string;
  readonly count: number;
}

/** What an operator looks at first. Of everything no more than a limit is counted: whoever looks must not slow down those who work. */
export interface Survey {
  readonly jobs: Waiting;
  readonly deliveries: Waiting;
  /** Jobs that failed and are tried again. */
  readonly failingJobs: number;
  /** Where deliveries were given up since a time, most of them first, then by the id of the endpoint; removed endpoints are left out. */
  readonly failingEndpoints: readonly FailingEndpoint[];
  /** Secrets in use that another sealing key than the first has sealed. Those of API keys that have ended are not in use. */
  readonly sealedOtherwise: number;
}

/** What is looked for. */
export interface SurveyRequest {
  readonly now: number;
  /** From when on deliveries that were given up are counted. */
  readonly droppedSince: number;
  /** What secrets begin with that the first sealing key has sealed. */
  readonly sealedWith: string;
  /** What of each kind is counted at most. */
  readonly limit: number;
}
