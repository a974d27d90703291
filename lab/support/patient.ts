/**
 * Time limits of `vi.waitFor` and `vi.waitUntil`. Their default of a second suits operations that must be
 * fast. Use these for events that have happened or never will, because a shared machine may stall for longer.
 */
export const patient = { timeout: 20_000 };
