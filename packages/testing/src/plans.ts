/**
 * Requests or attempts to which a planned fault applies, and how many of them.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * kit.rail.hold({ times: 2, match: ({ currency }) => currency === 'USD' });
 * ```
 */
export interface Limits<Subject> {
  /** Number of requests or attempts to which the fault applies; `Infinity` for all. @defaultValue 1 */
  readonly times?: number;
  /** Selects the requests or attempts to which the fault applies. @defaultValue selects all */
  readonly match?: (subject: Subject) => boolean;
}

interface Plan<Subject, Effect> {
  readonly name: string;
  readonly effect: Effect;
  readonly matches: (subject: Subject) => boolean;
  readonly times: number;
  done: number;
}

/** Faults that a test has planned, in the order in which they were planned. */
export class Plans<Subject, Effect> {
  #plans: Plan<Subject, Effect>[] = [];

  /** Plans a fault. @throws TypeError if `times` is not a positive whole number or `Infinity` */
  add(name: string, effect: Effect, { times = 1, match = () => true }: Limits<Subject>): void {
    if (!(times >= 1 && (Number.isInteger(times) || times === Number.POSITIVE_INFINITY))) {
      throw new TypeError(`${name}: times has to be a whole number from 1, or Infinity`);
    }
    this.#plans.push({ name, effect, matches: match, times, done: 0 });
  }

  /**
   * Returns the planned fault for a request or an attempt, and counts it as used; `null` if none is planned.
   * Skips faults for which `isPossible` returns false.
   */
  take(subject: Subject, isPossible: (effect: Effect) => boolean = () => true): Effect | null {
    const plan = this.#plans.find(
      ({ effect, matches, times, done }) => done < times && isPossible(effect) && matches(subject),
    );
    if (plan === undefined) return null;
    plan.done += 1;
    return plan.effect;
  }

  /**
   * Returns the names of faults that occurred less often than planned. A fault planned for all requests must
   * occur at least once.
   */
  unused(): string[] {
    return this.#plans
      .filter(({ times, done }) => done < (Number.isFinite(times) ? times : 1))
      .map(({ name, times, done }) => `${name}: ${done} of ${times} times`);
  }

  clear(): void {
    this.#plans = [];
  }
}
