import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../../support/measure/table.ts';
import { type Claim, staged, until } from '../../support/proof.ts';
import type { LoadReport } from './generator.ts';
import type { Health } from './loop-health.ts';
import { type Asked, setScene } from './scene.ts';

/** One process during the load. */
export interface ProcessReport extends Health {
  readonly name: string;
  /** Bytes of resident memory, the median of the second and of the last third. */
  readonly rss: readonly [number, number];
  /** Bytes that were alive at the end of the second and of the last third. */
  readonly heap: readonly [number, number];
}

/** What was found. */
export interface Report {
  /** Operations a second at which errors begin. */
  readonly errorRate: number;
  /** At which the load was held. */
  readonly rate: number;
  readonly minutes: number;
  readonly load: LoadReport;
  readonly processes: readonly ProcessReport[];
}

const sampleEveryMs = 1_000;
/** In which everything has to be delivered when nothing more is sent. */
const deliveryMs = 30_000;

const firstRate = 50;
/** From one step to the next, until there are errors, and then again from the last step without. */
const steps = [1.3, 1.1] as const;
/** Long enough for a queue to grow where more begins than ends. */
const stepMs = 15_000;
/** What is still under way when a step ends has ended by then, one way or the other. */
const settleMs = 1_500;
/** All steps together. */
const limitMs = 300_000;

/** Looks for the rate at which errors begin, from below. */
async function findErrorRate(generator: Asked, say: (line: string) => void): Promise<number> {
  const deadline = performance.now() + limitMs;
  let good = firstRate / steps[0];
  let bad = Number.POSITIVE_INFINITY;
  for (const step of steps) {
    for (let rate = firstRate; ; ) {
      rate = Math.round(good * step);
      if (rate >= bad || (performance.now() > deadline && Number.isFinite(bad))) break;
      await generator.ask('begin', rate);
      await delay(stepMs);
      await generator.ask('end');
      const { failed, failures } = await generator.ask<LoadReport>('report');
      say(`${rate} operations a second: ${failed} errors ${failures[0] ?? ''}`);
      await delay(settleMs);
      if (failed > 0) bad = rate;
      else good = rate;
    }
  }
  return bad;
}

/** Resident memory of a process over a third of the time, the median, and what is alive in it then. */
async function watchThird(one: Asked, ms: number): Promise<{ rss: number; alive: number }> {
  const samples: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    await delay(Math.min(sampleEveryMs, end - performance.now()));
    samples.push(await one.ask<number>('resident'));
  }
  return { rss: percentile(samples, 0.5), alive: await one.ask<number>('alive') };
}

async function watch(one: Asked, ms: number): Promise<ProcessReport> {
  await one.ask('health');
  await watchThird(one, ms / 3);
  const second = await watchThird(one, ms / 3);
  const last = await watchThird(one, ms / 3);
  const health = await one.ask<Health>('health');
  return { name: one.name, ...health, rss: [second.rss, last.rss], heap: [second.alive, last.alive] };
}

/** Finds the rate at which errors begin, then holds half of it. */
export function prove(
  { minutes, rate: given }: { readonly minutes: number; readonly rate: number | null },
  say: (line: string) => void,
): Promise<Report> {
  return staged(async (ends) => {
    const { generator, processes } = await setScene(ends);
    say('two web processes, a worker and the generator run');
    const errorRate = given ?? (await findErrorRate(generator, say));
    const rate = Math.floor(errorRate / 2);
    say(`${rate} operations a second for ${minutes} minutes`);
    await generator.ask('begin', rate);
    const watched = await Promise.all(processes.map((one) => watch(one, minutes * 60_000)));
    await generator.ask('end');
    const isTold = async () => (await generator.ask<LoadReport>('report')).untold === 0;
    await until(isTold, { everyMs: 500, withinMs: deliveryMs });
    const load = await generator.ask<LoadReport>('report');
    return { errorRate, rate, minutes, load, processes: watched };
  });
}

/** From when on resident memory is judged: a heap that is far from its next collection takes more from the system for minutes. */
const settledMinutes = 5;

/** What is promised: milliseconds of event-loop delay, and how much memory may grow. */
export interface Limits {
  readonly delayMs: number;
  /** The last third by the second one. */
  readonly growth: number;
}

export function claimsOf({ load, processes, minutes }: Report, { delayMs, growth }: Limits): Claim[] {
  const grown = (what: string, [second, last]: readonly [number, number]): string[] =>
    last > second * growth
      ? [`${what} grew from ${(second / 2 ** 20).toFixed(0)} to ${(last / 2 ** 20).toFixed(0)} MiB`]
      : [];
  return [
    {
      name: 'no operation fails',
      problems: load.failed > 0 ? [`${load.failed}, such as ${load.failures[0]}`] : [],
    },
    {
      name: 'every transfer is told, and everything that is told verifies',
      problems: [
        ...(load.untold > 0 ? [`${load.untold} transfers were not told`] : []),
        ...(load.rejected > 0 ? [`${load.rejected} deliveries did not verify`] : []),
      ],
    },
    ...processes.map(({ name, delayP99, rss, heap }) => ({
      name: `${name}: p99 of the event-loop delay at most ${delayMs} ms, and no memory grows`,
      problems: [
        ...(delayP99 > delayMs ? [`event-loop delay p99 is ${delayP99.toFixed(1)} ms`] : []),
        ...(minutes >= settledMinutes ? grown('resident memory', rss) : []),
        ...grown('what is alive in the heap', heap),
      ],
    })),
  ];
}
