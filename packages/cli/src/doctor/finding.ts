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

/** Says what one check found. */
export interface Findings {
  ok(what: string): Finding;
  warning(...complaint: Complaint): Finding;
  problem(...complaint: Complaint): Finding;
}

/** Findings of one check. */
export function findingsOf(check: string): Findings {
  const bad =
    (verdict: Verdict) =>
    (...[what, why, mend]: Complaint): Finding => ({ check, verdict, what, why, mend });
  return {
    ok: (what) => ({ check, verdict: 'ok', what }),
    warning: bad('warning'),
    problem: bad('problem'),
  };
}
