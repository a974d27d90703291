import type { ServerProcess } from '../../support/measure/server-process.ts';
import { inTurns, median } from '../../support/measure/statistics.ts';
import type { Arena } from './arena.ts';
import { type ContestantName, contestantNames } from './contestants.ts';
import type { Best, Size } from './drain.ts';

/** How many processes share the work. */
export const crews = [1, 2, 4] as const;

/** Deliveries per second of one, two and four processes, medians. */
export type Growth = Readonly<Record<ContestantName, readonly number[]>>;

/** One, two and four processes of everyone, in turns. */
export async function measureGrowth(arena: Arena, best: Best, { rounds, count }: Size): Promise<Growth> {
  const turns = new Map<string, () => Promise<number>>();
  for (const name of contestantNames) {
    const servers: ServerProcess[] = [];
    for (let process = 0; process < Math.max(...crews); process += 1) {
      servers.push(await arena.start(name, best[name]));
    }
    for (const crew of crews) {
      const turn = () => arena.drain(name, servers.slice(0, crew), count);
      turns.set(`${name} ${crew}`, async () => (await turn()).value);
    }
  }
  const rates = await inTurns(rounds, Object.fromEntries(turns));
  const growthOf = (name: ContestantName) => crews.map((crew) => median(rates[`${name} ${crew}`] ?? []));
  return {
    ostiary: growthOf('ostiary'),
    'pg-boss': growthOf('pg-boss'),
    'graphile-worker': growthOf('graphile-worker'),
  };
}
