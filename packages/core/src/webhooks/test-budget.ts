import type { OwnerName, Shares } from '../ports/shares.ts';

/** Attempts of a partner in test mode after a pause. */
const burst = 120;

/** Attempts of a partner in test mode that are added in each second. */
const perSecond = 10;

/**
 * Limits how many attempts one process makes for a partner in test mode: 120 after a pause, and ten more in each second. A test key
 * costs nothing and may have 50 endpoints at one host, so without it 200 calls would be 10,000 requests to that host within seconds.
 */
export function createTestBudget() {
  /** Budgets of partners that have spent something which is not added again yet. */
  const budgets = new Map<OwnerName, { left: number; at: number }>();

  /** Adds what came since; a clock that went back adds nothing. */
  function refill(now: number): void {
    for (const [name, budget] of budgets) {
      budget.left += (Math.max(0, now - budget.at) / 1000) * perSecond;
      budget.at = now;
      if (budget.left >= burst) budgets.delete(name);
    }
  }

  return {
    spend(name: OwnerName, now: number): void {
      if (!name.startsWith('test:')) return;
      const budget = budgets.get(name) ?? { left: burst, at: now };
      budget.left -= 1;
      budgets.set(name, budget);
    },
    /** Gives an attempt back that was not made. */
    giveBack(name: OwnerName): void {
      const budget = budgets.get(name);
      if (budget !== undefined) budget.left += 1;
    },
    /** Returns the shares of a claim, with no more for a partner in test mode than its budget has left. */
    limited({ free, most }: Shares, now: number): Shares {
      refill(now);
      const limited = new Map(most);
      for (const [name, { left }] of budgets) {
        const attempts = Math.max(0, Math.floor(left));
        limited.set(name, Math.min(limited.get(name) ?? attempts, attempts));
      }
      return { free, most: limited };
    },
  };
}
