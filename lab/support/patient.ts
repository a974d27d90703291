/**
 * Long time limits for `vi.waitFor` and `vi.waitUntil`, whose default of a second suits operations that must
 * be fast. The long limits are for events that have happened or never will, because a shared machine may
 * stall for longer than a second.
 */
export const patient = { timeout: 20_000 };
