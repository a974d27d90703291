/** Where a claim begins to look. Times are milliseconds since the Unix epoch. */
export interface Bounds {
  /** Of each group of rows that had any: when its oldest one is or was due. No row of it is due before. */
  readonly oldest: ReadonlyMap<string, number>;
  /** No row of any other group is due before. */
  readonly since: number;
}

/** What a survey found; the arrays belong together. */
export interface Survey {
  /** Groups that have any row. */
  readonly groups: readonly string[];
  /** When the oldest row of each of them is due. */
  readonly oldest: readonly number[];
  /** How long the server was at it. */
  readonly tookMs: number;
}

/** A look at everything that takes longer than this is slow, in milliseconds. */
const slowMs = 10;

/** So many slow ones in a row are no accident. */
const slowLooks = 3;

/** A survey that takes less than this shows that there is nothing to avoid. */
const quickMs = 10;

/** Surveys take one part of this of the time at most. */
const rest = 10;

/** After a survey that found nothing to avoid the next one is made later than this, however slow claims are. */
const quietMs = 1000;

/** The same after one that failed, or found too much. */
const failedMs = 10_000;

/** How long a survey may take: it passes everything that was removed. */
export const surveyPatienceMs = 5000;

/** What commits later than this after its row became due may have to wait for the next survey. */
const lateMs = 10_000;

/**
 * How far back claims look. PostgreSQL keeps removed rows, and their places in indexes, until no transaction is left that
 * began before: where somebody leaves one open, whoever looks for the first row of an index passes everything that was
 * removed since. A worker that does this for every claim has soon no time for anything else.
 *
 * So, once a few claims in a row were slow, a survey passes all that one time, and finds the oldest row of each group; claims
 * begin there, until the next survey. They miss nothing but rows of transactions that took longer than `lateMs` to
 * commit, or of processes whose clocks differ by as much: these wait for the next survey. When a survey is quick again,
 * claims look at everything.
 */
export class Lookback {
  readonly #survey: () => Promise<Survey | null>;
  readonly #clock: () => number;
  #slow = 0;
  #bounds: Bounds | null = null;
  #nextSurvey = 0;
  #isSurveying = false;

  /**
   * @param survey - `null`, because there are too many groups, or a failure: claims look at everything
   * @param clock - milliseconds since any time, never backwards
   */
  constructor(survey: () => Promise<Survey | null>, clock: () => number = () => performance.now()) {
    this.#survey = survey;
    this.#clock = clock;
  }

  /** Where a claim begins at `now`; `null`: it looks at everything. Does not wait for a survey. */
  bounds(now: number): Bounds | null {
    if (this.#slow < slowLooks) return null;
    const bounds = this.#bounds;
    const isBeforeAll = bounds !== null && now < bounds.since;
    if ((isBeforeAll || this.#clock() >= this.#nextSurvey) && !this.#isSurveying) void this.#renew(now);
    return isBeforeAll ? null : bounds;
  }

  /** Runs the statement of a claim that begins with these bounds. */
  async timed<T>(bounds: Bounds | null, look: () => Promise<T>): Promise<T> {
    if (bounds !== null) return look();
    const started = this.#clock();
    try {
      return await look();
    } finally {
      this.#slow = this.#clock() - started > slowMs ? this.#slow + 1 : 0;
    }
  }

  async #renew(now: number): Promise<void> {
    this.#isSurveying = true;
    const survey = await this.#survey().catch(() => null);
    this.#bounds = null;
    let waitMs = failedMs;
    if (survey !== null && survey.tookMs < quickMs) {
      this.#slow = 0;
      waitMs = quietMs;
    } else if (survey !== null) {
      this.#bounds = boundsOf(survey, now - lateMs);
      waitMs = rest * survey.tookMs;
    }
    this.#nextSurvey = this.#clock() + waitMs;
    this.#isSurveying = false;
  }
}

function boundsOf({ groups, oldest }: Survey, since: number): Bounds {
  const begins = groups.map((group, index): [string, number] => [
    group,
    Math.min(oldest[index] ?? since, since),
  ]);
  return { oldest: new Map(begins), since };
}

/** A statement's last column: since when it runs, in milliseconds. This process may have been busy with something else. */
export const serverMs = 'extract(epoch FROM clock_timestamp() - statement_timestamp())::float8 * 1000';
