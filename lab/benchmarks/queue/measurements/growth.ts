import type { ServerProcess } from '../../../support/measure/server-process.ts';
import { median } from '../../../support/measure/statistics.ts';
import type { Arena } from '../arena.ts';
import { type ContestantName, contestantNames } from '../contestants.ts';
import type { Best } from './drain.ts';

/** How many processes share the work. */
export const crews = [1, 2, 4] as const;

/** Deliveries per second of one, two and four processes, medians. */
export type Growth = Readonly<Record<ContestantName, readonly number[]>>;

export async function measureGrowth(
  arena: Arena,
  best: Best,
  rounds: number,
  count: number,
): Promise<Growth> {
  const servers: Record<ContestantName, ServerProcess[]> = {
    ostiary: [],
    'pg-boss': [],
    'graphile-worker': [],
  };
  for (const name of contestantNames) {
    for (let process = 0; process < Math.max(...crews); process += 1) {
      servers[name].push(await arena.start(name, best[name]));
    }
  }
  const rates = new Map<string, number[]>();
  const ratesOf = (name: ContestantName, crew: number): number[] => {
    const key = `${name} ${crew}`;
    const found = rates.get(key) ?? [];
    rates.set(key, found);
    return found;
  };
  for (let round = -1; round < rounds; round += 1) {
    for (const crew of crews) {
      for (const name of contestantNames) {
        const { value: rate } = await arena.drain(name, servers[name].slice(0, crew), count);
        if (round >= 0) ratesOf(name, crew).push(rate);
      }
    }
  }
  for (const server of Object.values(servers).flat()) await server.stop();
  const growthOf = (name: ContestantName) => crews.map((crew) => median(ratesOf(name, crew)));
  return {
    ostiary: growthOf('ostiary'),
    'pg-boss': growthOf('pg-boss'),
    'graphile-worker': growthOf('graphile-worker'),
  };
}
