/** Severity of the result of a doctor's check. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** Result of one check of the doctor. */
export interface Finding {
  /** Name of the check, such as `tls`. */
  readonly check: string;
  readonly verdict: Verdict;
  /** State of the installation that the doctor's check found, as text. */
  readonly what: string;
  /** Consequence of the problem that the check found, as text. */
  readonly why?: string;
  /** Advice for fixing the problem that the check found, as text. */
  readonly mend?: string;
}

/** A warning or problem that a check found: the state, its consequence, and advice for fixing it. */
type Complaint = readonly [what: string, why: string, mend: string];

/** Result of a check before `examine` adds the name of the check. */
export interface CheckResult extends Omit<Finding, 'check'> {
  /** True to omit this result if the same check also has a warning or a problem. */
  readonly unlessWrong?: true;
}

export const ok = (what: string): CheckResult => ({ verdict: 'ok', what });
/** Makes a successful result that is omitted if the same check also has a warning or a problem. */
export const sound = (what: string): CheckResult => ({ verdict: 'ok', what, unlessWrong: true });
export const warning = (...[what, why, mend]: Complaint): CheckResult => ({
  verdict: 'warning',
  what,
  why,
  mend,
});
export const problem = (...[what, why, mend]: Complaint): CheckResult => ({
  verdict: 'problem',
  what,
  why,
  mend,
});
