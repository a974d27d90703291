/**
 * Time limits of `vi.waitFor` and `vi.waitUntil`. Their default of a second suits operations that must be
 * fast. The events awaited here have happened or never will, and a shared machine may stand still for longer.
 */
export const patient = { timeout: 20_000 };
