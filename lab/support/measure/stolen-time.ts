import { readFileSync } from 'node:fs';

/** In the first line of `/proc/stat` (proc_stat(5)): time that was given to other machines on the same processors. */
const stolenField = 7;
/** What follows is counted in other fields too. */
const fields = 8;

function processorTimes(): { readonly stolen: number; readonly all: number } | null {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const times = line
      .trim()
      .split(/\s+/)
      .slice(1, fields + 1)
      .map(Number);
    return { stolen: times[stolenField] ?? 0, all: times.reduce((sum, time) => sum + time, 0) };
  } catch {
    return null;
  }
}

/**
 * Looks from now on at what other virtual machines take of this one's processors.
 *
 * @returns tells it each time it is asked, from 0 to 1 since the time before; `null` where the system does not tell
 */
export function createStolenTime(): () => number | null {
  let begin = processorTimes();
  return () => {
    const end = processorTimes();
    const share =
      begin === null || end === null || end.all === begin.all
        ? null
        : (end.stolen - begin.stolen) / (end.all - begin.all);
    begin = end;
    return share;
  };
}

/** The same as a line for the end of a report; nothing where the system does not tell. */
export function watchStolenTime(): () => string {
  const stolen = createStolenTime();
  return () => {
    const share = stolen();
    return share === null
      ? ''
      : `other virtual machines took ${(100 * share).toFixed(1)} % of the processors meanwhile`;
  };
}

/** What was measured, and what other virtual machines took of the processors meanwhile. */
export interface Turn<Value = number> {
  readonly value: Value;
  /** From 0 to 1; `null` where the system does not tell. */
  readonly stolen: number | null;
}

/** Beyond this share a median says more about other machines than about what was measured. */
const mostStolen = 0.05;

/** Throws away turns that other virtual machines disturbed, and repeats them, for as long as there is time. */
export class QuietTurns {
  /** The share that others may take of the processors in a turn that counts, from 0 to 1. */
  readonly most: number;
  readonly #deadline: number;
  #taken = 0;
  #thrownAway = 0;

  /** @param limitMs - for all turns together */
  constructor(limitMs: number, most: number = mostStolen) {
    this.most = most;
    this.#deadline = performance.now() + limitMs;
  }

  /** How many turns there were, and how many of them do not count, as a line for a report. */
  get line(): string {
    return `${this.#thrownAway} of ${this.#taken} turns do not count, because other virtual machines took over ${100 * this.most} % of the processors in them or beside them`;
  }

  /**
   * What turns measured that are compared with each other: one after the other, and all of them again when one was disturbed.
   * Where the system does not tell, none is.
   *
   * @throws Error when there was no quiet before the time was over
   */
  async values<Value>(turns: readonly (() => Promise<Turn<Value>>)[]): Promise<Value[]> {
    for (;;) {
      const values: Value[] = [];
      for (const turn of turns) {
        const { value, stolen } = await turn();
        this.#taken += 1;
        values.push(value);
        if ((stolen ?? 0) > this.most) break;
        if (values.length === turns.length) return values;
      }
      this.#thrownAway += values.length;
      if (performance.now() > this.#deadline) throw new Error(`no figures: ${this.line}`);
    }
  }
}
