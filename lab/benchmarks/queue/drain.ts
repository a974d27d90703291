import type { ServerProcess } from '../../support/measure/server-process.ts';
import { median } from '../../support/measure/statistics.ts';
import type { QuietTurns, Turn } from '../../support/measure/stolen-time.ts';
import type { Arena } from './arena.ts';
import { type ContestantName, contestantNames, descriptions } from './contestants.ts';

/** How often everyone has his turn, and of how many deliveries. */
export interface Size {
  readonly rounds: number;
  readonly count: number;
}

/** One setting of a contestant, and how many deliveries per second it made. */
export interface Trial {
  readonly name: ContestantName;
  readonly setting: number;
  readonly rates: number[];
}

/** Everyone's settings, in turns. The round before the first one is not counted. */
export async function trySettings(
  arena: Arena,
  turns: QuietTurns,
  { rounds, count }: Size,
): Promise<Trial[]> {
  const trials: (Trial & { readonly server: ServerProcess })[] = [];
  for (const name of contestantNames) {
    for (const setting of descriptions[name].settings.keys()) {
      trials.push({ name, setting, server: await arena.start(name, setting), rates: [] });
    }
  }
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, server, rates } of trials) {
      const turn = () => arena.drain(name, [server], count);
      if (round < 0) await turn();
      else rates.push(...(await turns.values([turn])));
    }
  }
  for (const { server } of trials) await server.stop();
  return trials;
}

/** The best setting of each contestant. */
export type Best = Readonly<Record<ContestantName, number>>;

export function bestOf(trials: readonly Trial[]): Best {
  const best = (name: ContestantName) =>
    trials
      .filter((trial) => trial.name === name)
      .reduce((left, right) => (median(right.rates) > median(left.rates) ? right : left)).setting;
  return { ostiary: best('ostiary'), 'pg-boss': best('pg-boss'), 'graphile-worker': best('graphile-worker') };
}

/** Deliveries per second of one process of each, a value for each round, and of the requests alone. */
export type Rates = Readonly<Record<ContestantName | 'raw', number[]>>;

/** Everyone at his best, in turns; a round that others disturbed is repeated. */
export async function compare(
  arena: Arena,
  best: Best,
  turns: QuietTurns,
  { rounds, count }: Size,
): Promise<Rates> {
  const raw = await arena.startRaw();
  const everyone: { name: keyof Rates; turn: () => Promise<Turn> }[] = [];
  for (const name of contestantNames) {
    const server = await arena.start(name, best[name]);
    everyone.push({ name, turn: () => arena.drain(name, [server], count) });
  }
  everyone.push({ name: 'raw', turn: () => arena.postRaw(raw, count) });
  const rates: Rates = { ostiary: [], 'pg-boss': [], 'graphile-worker': [], raw: [] };
  for (const { turn } of everyone) await turn();
  for (let round = 1; round <= rounds; round += 1) {
    console.error(`round ${round} of ${rounds} …`);
    const found = await turns.values(everyone.map(({ turn }) => turn));
    for (const [index, { name }] of everyone.entries()) rates[name].push(found[index] ?? Number.NaN);
  }
  return rates;
}
