/** Where the time comes from. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** A moment in milliseconds since the Unix epoch, as every API of this package writes it. */
export const iso = (time: number): string => new Date(time).toISOString();
