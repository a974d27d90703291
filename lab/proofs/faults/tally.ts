/** What the clients saw while one fault was made. */
export class Tally {
  requests = 0;
  /** Answers with 503 and `Retry-After`. */
  errors = 0;
  slowestErrorMs = 0;
  /** Where that was. */
  slowestPath = '';
  /** Connections that were refused or broke: the process at the other end was killed. */
  cutOff = 0;
  /** Answers that no client should ever see. */
  readonly wrong: string[] = [];
}

/** A payment that a client has an answer for, or has none for. */
export interface Payment {
  /** Its `Idempotency-Key` and its description. */
  readonly key: string;
  readonly fault: string;
  transferId: string | null;
}

/** A test event that a client has an answer for. */
export interface PublishedEvent {
  readonly key: string;
  readonly fault: string;
  eventId: string | null;
}
