/** Severity of a finding. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** Result of one check. */
export interface Finding {
  /** Name of the check, such as `tls`. */
  readonly check: string;
  readonly verdict: Verdict;
  /** Observed state. */
  readonly what: string;
  /** Consequence of the problem. */
  readonly why?: string;
  /** Advice for mending it. */
  readonly mend?: string;
}

/** A problem: the observed state, its consequence, and advice for mending it. */
type Complaint = readonly [what: string, why: string, mend: string];

/** Result of a check before `examine` adds the name of the check. */
export interface Said extends Omit<Finding, 'check'> {
  /** Left out when the check complains of something. */
  readonly unlessWrong?: true;
}

export const ok = (what: string): Said => ({ verdict: 'ok', what });
/** Makes a good result that is left out if the same check reports a problem. */
export const sound = (what: string): Said => ({ verdict: 'ok', what, unlessWrong: true });
export const warning = (...[what, why, mend]: Complaint): Said => ({ verdict: 'warning', what, why, mend });
export const problem = (...[what, why, mend]: Complaint): Said => ({ verdict: 'problem', what, why, mend });
