/** Counts the results over many schedules of payments. */
export class Tally {
  calls = 0;
  requests = 0;
  /** Number of times that each network fault happened. */
  readonly faults = new Map<string, number>();
  /**
   * Number of SDK calls with each result, by the number of their transfers at that moment: none, one, more.
   */
  readonly ends = new Map<string, [number, number, number]>();
  readonly retries = { settled: 0, conflicts: 0 };

  meet(fault: string): void {
    this.requests += 1;
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  end(how: string, transfers: number): void {
    const counts = this.ends.get(how) ?? [0, 0, 0];
    counts[Math.min(transfers, 2)] = (counts[Math.min(transfers, 2)] ?? 0) + 1;
    this.ends.set(how, counts);
  }
}
