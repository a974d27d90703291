import type { Owner } from '../ports/owner.ts';

/** A signed-in partner's request. */
export interface Visit {
  /** Whose data it may see: that of the partner, in test mode. */
  readonly owner: Owner;
  /** Proves that a form is from this session. */
  readonly csrfToken: string;
  readonly now: number;
}
