import { setTimeout as delay } from 'node:timers/promises';
import { authorizePath, codeFrom, RoamingBrowser } from '../../support/browser/remote-flow.ts';
import { watchIdleTime } from '../../support/measure/idle-time.ts';
import { Child } from '../../support/processes/child.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import { type Stage, setStage } from '../../support/processes/stage.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import type { LoadReport, LoadSettings } from './generator.ts';

const firstRate = 50;
const step = 1.2;
/** Duration of a step, in milliseconds: long enough for a queue to grow if more operations start than end. */
const stepMs = 15_000;
/**
 * Idle share of the processors below which the rate is not raised further. Beyond this, the operations would
 * only wait for the processors, which the generator and PostgreSQL use, too.
 */
const leastIdle = 0.1;
/** Time after the load within which all events must be delivered, in milliseconds. */
const deliveryMs = 30_000;

/** Users who are signed in and have consented. */
const users = Array.from({ length: 50 }, (_, index) => ({ sub: `user-${index}`, kid: `user-${index}` }));
/** Number of passports. All passports are replaced every minute, because each is valid for five minutes. */
const passportCount = 200;
const passportsEveryMs = 60_000;

/** Starts the process that generates the load, with the data that this process needs. */
async function startGenerator(
  ends: AsyncDisposableStack,
  { cluster, client, keys, ostiary }: Stage,
): Promise<Child> {
  const origins = cluster.webs.map(({ origin }) => origin);
  for (const { sub } of users)
    await codeFrom(origins, new RoamingBrowser(authUrl, sub), authorizePath(client));
  const apiKeys = [{ id: '', keys: [keys.live] }];
  const credentials = { client, clientSecrets: [client.secret], apiKeys, users };
  const settings: LoadSettings = { origins, credentials };
  const generator = new Child(new URL('./generator.ts', import.meta.url), settings);
  ends.defer(() => generator.kill());
  await generator.ready;
  const givePassports = async (): Promise<void> => {
    const fresh = Array.from({ length: passportCount }, async (_, index) => {
      return (await ostiary.passports.issue(users[index % users.length]?.sub ?? '')).token;
    });
    await generator.ask('takePassports', await Promise.all(fresh));
  };
  await givePassports();
  const timer = setInterval(() => void givePassports().catch(() => undefined), passportsEveryMs);
  ends.defer(() => clearInterval(timer));
  return generator;
}

/** Rate of operations that is too high for the machine. */
interface Limit {
  /** Operations a second. */
  readonly rate: number;
  readonly reason: string;
}

/**
 * Raises the rate of operations step by step until errors begin, or until the processors are busy.
 * @returns the first rate that is too high, and the reason
 */
async function findLimit(generator: Child, say: (line: string) => void): Promise<Limit> {
  for (let rate = firstRate; ; rate = Math.round(rate * step)) {
    await generator.ask('begin', rate);
    const idleSince = watchIdleTime();
    await delay(stepMs);
    const idle = idleSince();
    const { failed, failures } = await generator.ask<LoadReport>('end');
    const percent = `${(100 * idle).toFixed(0)} %`;
    say(`${rate} operations a second: ${failed} errors ${failures[0] ?? ''}, processors idle ${percent}`);
    if (failed > 0) return { rate, reason: 'errors begin' };
    if (idle < leastIdle) return { rate, reason: `the processors are idle for only ${percent} of the time` };
  }
}

/** Finds the rate that is too high for the machine, and then runs at half of that rate. */
export async function prove(
  { minutes, rate: given }: { readonly minutes: number; readonly rate: number },
  say: (line: string) => void,
) {
  await using ends = new AsyncDisposableStack();
  const stage = await setStage(ends, { webs: 2, workers: 1, endpoints: 1 });
  const generator = await startGenerator(ends, stage);
  say('two web processes, a worker and the generator run');
  const limit = given === 0 ? await findLimit(generator, say) : { rate: given, reason: 'as given' };
  const rate = Math.floor(limit.rate / 2);
  say(`${rate} operations a second for ${minutes} minutes`);
  const { processes } = stage.cluster;
  const askAll = <Answer>(what: string) => Promise.all(processes.map((process) => process.ask<Answer>(what)));
  /**
   * Reads the heap of every process after a garbage collection. Before that, the workers drop their records
   * of claimed deliveries, which this proof does not need.
   */
  const alive = async (): Promise<number[]> => {
    await stage.cluster.holds();
    return askAll<number>('alive');
  };
  await generator.ask('begin', rate);
  await askAll('loopDelay');
  await delay(minutes * 40_000);
  const second = await alive();
  await delay(minutes * 20_000);
  const delays = await askAll<[number, number]>('loopDelay');
  const last = await alive();
  const load = await generator.ask<LoadReport>('end');
  const { seen, rejected } = stage.receiver;
  const untold = () => load.transfers.filter((id) => !seen.has(id)).length;
  await until(() => untold() === 0, { everyMs: 500, withinMs: deliveryMs });
  return {
    ...{ limit, rate, load, untold: untold(), rejected },
    processes: processes.map(({ name }, index) => ({
      name,
      /** Delay of the event loop's timers in milliseconds: the 99th percentile and the maximum. */
      delays: delays[index] ?? [],
      /**
       * Heap after a garbage collection, in bytes, at the end of the run's second third and of its last
       * third.
       */
      alive: [second[index] ?? Number.NaN, last[index] ?? Number.NaN],
    })),
  };
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

/**
 * Returns the guarantees of the load proof with their results. @param most - maximum event-loop delay in
 * milliseconds, and maximum ratio of the last third's memory to the second's
 */
export function claimsOf(
  { load, untold, rejected, processes }: Awaited<ReturnType<typeof prove>>,
  most: { readonly delayMs: number; readonly growth: number },
): Claim[] {
  return [
    claim('no operation fails', load.failed === 0, `${load.failed} failed ${load.failures[0] ?? ''}`),
    claim('every transfer is told', untold === 0, `${load.transfers.length} transfers, ${untold} not told`),
    { name: 'everything that is told verifies', problems: rejected },
    ...processes.flatMap(
      ({ name, delays: [p99 = Number.NaN, worst = Number.NaN], alive: [second = 0, last = 0] }) => [
        claim(
          `${name}: p99 of the event-loop delay at most ${most.delayMs} ms`,
          p99 <= most.delayMs,
          `${p99.toFixed(1)} ms, ${worst.toFixed(1)} ms at most`,
        ),
        claim(
          `${name}: what is alive in the heap does not grow`,
          last <= second * most.growth,
          `${mebibytes(second)}, then ${mebibytes(last)}`,
        ),
      ],
    ),
  ];
}
