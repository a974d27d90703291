import { inTurns, median } from '../../support/measure/statistics.ts';
import type { Child } from '../../support/processes/child.ts';
import type { Arena } from './arena.ts';
import { type ContestantName, contestantNames, descriptions } from './contestants.ts';

/** Number of turns of every queue library, and of deliveries in each turn. */
export interface Size {
  readonly rounds: number;
  readonly count: number;
}

/** A setting of a queue library, and its deliveries per second in each round. */
type Trial = Awaited<ReturnType<typeof trySettings>>[number];

/** Measures all settings of every queue library, in turns. */
export async function trySettings(arena: Arena, { rounds, count }: Size) {
  const trials = contestantNames.flatMap((name) =>
    descriptions[name].settings.map((_, setting) => ({ name, setting, label: `${name} ${setting}` })),
  );
  const servers: Child[] = [];
  const sides: Record<string, () => Promise<number>> = {};
  for (const { name, setting, label } of trials) {
    const server = await arena.start(name, setting);
    servers.push(server);
    sides[label] = () => arena.drain(name, [server], count);
  }
  const rates = await inTurns(rounds, sides);
  for (const server of servers) await server.stop();
  return trials.map(({ name, setting, label }) => ({ name, setting, rates: rates[label] ?? [] }));
}

/** Index of the fastest setting of each queue library. */
export type Best = Readonly<Record<ContestantName, number>>;

export function bestOf(trials: readonly Trial[]): Best {
  const best = (name: ContestantName) =>
    trials
      .filter((trial) => trial.name === name)
      .reduce((left, right) => (median(right.rates) > median(left.rates) ? right : left)).setting;
  return { ostiary: best('ostiary'), 'pg-boss': best('pg-boss'), 'graphile-worker': best('graphile-worker') };
}

/** Measures every queue library with its fastest setting, in turns, beside plain requests without a queue. */
export async function compare(arena: Arena, best: Best, { rounds, count }: Size) {
  const sideOf = async (name: ContestantName) => {
    const server = await arena.start(name, best[name]);
    return () => arena.drain(name, [server], count);
  };
  return inTurns(rounds, {
    ostiary: await sideOf('ostiary'),
    'pg-boss': await sideOf('pg-boss'),
    'graphile-worker': await sideOf('graphile-worker'),
    raw: await arena.rawSide(count),
  });
}

/** Numbers of processes that share the deliveries. */
export const crews = [1, 2, 4] as const;

/**
 * Runs one, two and four processes of every queue library in turns. @returns the median of deliveries per
 * second, by queue library and number of processes
 */
export async function measureGrowth(arena: Arena, best: Best, { rounds, count }: Size) {
  const sides: Record<string, () => Promise<number>> = {};
  for (const name of contestantNames) {
    const servers: Child[] = [];
    for (const crew of crews) {
      while (servers.length < crew) servers.push(await arena.start(name, best[name]));
      const some = [...servers];
      sides[`${name} ${crew}`] = () => arena.drain(name, some, count);
    }
  }
  const rates = await inTurns(rounds, sides);
  return contestantNames.map((name) => ({
    name,
    medians: crews.map((crew) => median(rates[`${name} ${crew}`] ?? [])),
  }));
}
