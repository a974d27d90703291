/**
 * Returns the start of a day, such as `2026-01-31`, in UTC. Returns `null` if the text is no day, or the
 * calendar has no such day.
 */
export function startOfDay(day: string): Date | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return null;
  const start = new Date(`${day}T00:00:00.000Z`);
  // Date would convert 30 February to another day.
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day) ? start : null;
}
