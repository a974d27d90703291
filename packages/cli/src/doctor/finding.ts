/** How bad it is. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** One thing that was looked at. */
export interface Finding {
  /** What was looked at, such as `tls`. */
  readonly check: string;
  readonly verdict: Verdict;
  /** What is there. */
  readonly what: string;
  /** What comes of it. */
  readonly why?: string;
  /** How to mend it. */
  readonly mend?: string;
}

/** What is wrong, what comes of it, and how to mend it. */
type Complaint = readonly [what: string, why: string, mend: string];

/** What a check says; `examine` knows which one it was. */
export interface Said extends Omit<Finding, 'check'> {
  /** Left out when the check complains of something. */
  readonly unlessWrong?: true;
}

export const ok = (what: string): Said => ({ verdict: 'ok', what });
/** All is well, if nothing else was said. */
export const sound = (what: string): Said => ({ verdict: 'ok', what, unlessWrong: true });
export const warning = (...[what, why, mend]: Complaint): Said => ({ verdict: 'warning', what, why, mend });
export const problem = (...[what, why, mend]: Complaint): Said => ({ verdict: 'problem', what, why, mend });
