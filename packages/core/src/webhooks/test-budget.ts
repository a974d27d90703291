import type { OwnerName, Shares } from '../ports/shares.ts';

/** Number of webhook attempts that a partner in test mode can make at once after a pause. */
const burst = 120;

/** Number of webhook attempts that a partner in test mode gains per second. */
const perSecond = 10;

/**
 * Limits the attempts that one process makes for a partner in test mode: 120 after a pause, and ten more per
 * second. A test key costs nothing and may have 50 endpoints at one host, so without this limit 200 calls
 * would cause 10,000 requests to that host within seconds.
 */
export function createTestBudget() {
  /**
   * Remaining attempts of each partner in test mode, by owner. A partner without an entry has the maximum.
   */
  const budgets = new Map<OwnerName, { left: number; at: number }>();

  /** Adds the attempts that partners gained since the last call; none if the clock was set back. */
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
    /** Gives a partner back the attempt of a delivery that was not made. */
    giveBack(name: OwnerName): void {
      const budget = budgets.get(name);
      if (budget !== undefined) budget.left += 1;
    },
    /**
     * Returns the limits for a claim of deliveries, in which each partner in test mode gets at most its
     * remaining attempts.
     */
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
