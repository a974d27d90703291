/** What happened in many schedules. */
export interface Tally {
  schedules: number;
  calls: number;
  requests: number;
  readonly faults: Map<string, number>;
  /** How often a call ended so, by the number of its transfers at that moment. */
  readonly ends: Map<string, [none: number, one: number, more: number]>;
  readonly retries: { settled: number; conflicts: number };
}

export function newTally(): Tally {
  return {
    schedules: 0,
    calls: 0,
    requests: 0,
    faults: new Map(),
    ends: new Map(),
    retries: { settled: 0, conflicts: 0 },
  };
}

export function countFault({ faults }: Tally, kind: string): void {
  faults.set(kind, (faults.get(kind) ?? 0) + 1);
}

export function countEnd({ ends }: Tally, end: string, transfers: number): void {
  const [none, one, more] = ends.get(end) ?? [0, 0, 0];
  const counted = [
    none + Number(transfers === 0),
    one + Number(transfers === 1),
    more + Number(transfers > 1),
  ];
  ends.set(end, counted as [number, number, number]);
}
