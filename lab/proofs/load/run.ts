import { setTimeout as delay } from 'node:timers/promises';
import { createStolenTime } from '../../support/measure/stolen-time.ts';
import { percentile } from '../../support/measure/table.ts';
import type { Stalls } from './bystander.ts';
import type { Failed, LoadReport } from './generator.ts';
import type { Health } from './loop-health.ts';
import { findErrorRate } from './ramp.ts';
import { type Asked, type Scene, setScene } from './scene.ts';

const sampleEveryMs = 1_000;
/** In which everything has to be delivered when nothing more is sent. */
const deliveryMs = 30_000;

/** One process during the load. */
export interface ProcessReport extends Health {
  readonly name: string;
  /** Bytes of resident memory, the median of the second and of the last third. */
  readonly rss: readonly [number, number];
  /** Bytes that were alive at the end of the second and of the last third. */
  readonly heap: readonly [number, number];
}

/** A minute of the load, and what the machine did meanwhile to a process that does nothing. */
export interface MinuteReport extends Stalls {
  readonly failed: number;
  /** Of the processors, what other virtual machines took, from 0 to 1; `null` where the system does not tell. */
  readonly stolen: number | null;
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
  /** The process that does nothing. */
  readonly bystander: Health;
  readonly byMinute: readonly MinuteReport[];
}

/** Resident memory of each process over a third of the time, the median, and what is alive in it then. */
async function watchThird(
  processes: readonly Asked[],
  ms: number,
): Promise<readonly { readonly rss: number; readonly alive: number }[]> {
  const samples = processes.map((): number[] => []);
  const end = performance.now() + ms;
  while (performance.now() < end) {
    await delay(Math.min(sampleEveryMs, end - performance.now()));
    for (const [index, one] of processes.entries()) samples[index]?.push(await one.ask<number>('resident'));
  }
  return Promise.all(
    processes.map(async (one, index) => ({
      rss: percentile(samples[index] ?? [], 0.5),
      alive: await one.ask<number>('alive'),
    })),
  );
}

async function watch(processes: readonly Asked[], ms: number): Promise<readonly ProcessReport[]> {
  await Promise.all(processes.map((one) => one.ask('health')));
  await watchThird(processes, ms / 3);
  const second = await watchThird(processes, ms / 3);
  const last = await watchThird(processes, ms / 3);
  return Promise.all(
    processes.map(async (one, index) => ({
      name: one.name,
      ...(await one.ask<Health>('health')),
      rss: [second[index]?.rss ?? 0, last[index]?.rss ?? 0] as const,
      heap: [second[index]?.alive ?? 0, last[index]?.alive ?? 0] as const,
    })),
  );
}

async function watchMinutes(
  { generator, bystander }: Scene,
  minutes: number,
): Promise<readonly MinuteReport[]> {
  const stolen = createStolenTime();
  const reports: MinuteReport[] = [];
  let earlier = 0;
  await bystander.ask('stalls');
  for (let minute = 0; minute < minutes; minute += 1) {
    await delay(Math.min(1, minutes - minute) * 60_000);
    const { count } = await generator.ask<Failed>('failed');
    reports.push({ failed: count - earlier, stolen: stolen(), ...(await bystander.ask<Stalls>('stalls')) });
    earlier = count;
  }
  return reports;
}

/** What was still under way after the last minute is the last minute's. */
function withRest(byMinute: readonly MinuteReport[], failed: number): readonly MinuteReport[] {
  const counted = byMinute.slice(0, -1).reduce((sum, minute) => sum + minute.failed, 0);
  return byMinute.map((minute, index) =>
    index === byMinute.length - 1 ? { ...minute, failed: failed - counted } : minute,
  );
}

/** Finds the rate at which errors begin, then holds half of it. */
export async function prove(
  { minutes, rate: given }: { readonly minutes: number; readonly rate: number | null },
  say: (line: string) => void,
): Promise<Report> {
  const scene = await setScene();
  try {
    const { generator, processes, bystander } = scene;
    say('two web processes, a worker and the generator run');
    const errorRate =
      given ??
      (await findErrorRate(generator, (rate, { count, example }) =>
        say(`${rate} operations a second: ${count} errors${example === null ? '' : `, such as ${example}`}`),
      ));
    const rate = Math.floor(errorRate / 2);
    say(`${rate} operations a second for ${minutes} minutes`);
    await generator.ask('begin', rate);
    await bystander.ask('health');
    const [watched, byMinute] = await Promise.all([
      watch(processes, minutes * 60_000),
      watchMinutes(scene, minutes),
    ]);
    const idle = await bystander.ask<Health>('health');
    await generator.ask('end');
    const deadline = performance.now() + deliveryMs;
    let load = await generator.ask<LoadReport>('report');
    while (load.untold > 0 && performance.now() < deadline) {
      await delay(500);
      load = await generator.ask<LoadReport>('report');
    }
    return {
      ...{ errorRate, rate, minutes, load, processes: watched, bystander: idle },
      byMinute: withRest(byMinute, load.failed),
    };
  } finally {
    await scene.end();
  }
}

/** From when on resident memory is judged. */
const settledMinutes = 5;

/** What is promised: milliseconds of event-loop delay, and how much memory may grow. */
export interface Limits {
  readonly delayMs: number;
  /** The last third by the second one. */
  readonly growth: number;
}

/** What does not hold. */
export function violationsOf({ load, processes, minutes }: Report, { delayMs, growth }: Limits): string[] {
  const grown = (name: string, [second, last]: readonly [number, number]): string[] =>
    last > second * growth
      ? [`${name} grew from ${(second / 2 ** 20).toFixed(0)} to ${(last / 2 ** 20).toFixed(0)} MiB`]
      : [];
  return [
    ...(load.failed > 0 ? [`${load.failed} operations failed, such as ${load.failures[0]}`] : []),
    ...(load.untold > 0 ? [`${load.untold} transfers were not told`] : []),
    ...(load.rejected > 0 ? [`${load.rejected} deliveries did not verify`] : []),
    ...processes.flatMap(({ name, delayP99, rss, heap }) => [
      ...(delayP99 > delayMs ? [`${name}: event-loop delay p99 is ${delayP99.toFixed(1)} ms`] : []),
      // A heap that is far from its next collection takes more from the system for minutes.
      ...(minutes >= settledMinutes ? grown(`${name}: resident memory`, rss) : []),
      ...grown(`${name}: what is alive in the heap`, heap),
    ]),
  ];
}
