/**
 * How long `vi.waitFor` and `vi.waitUntil` wait. Their own second is for things that are wrong when they take a
 * second; what is awaited here has happened or never will, and a machine that is shared may stand still for longer.
 */
export const patient = { timeout: 20_000 };
