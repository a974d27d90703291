import { setTimeout } from 'node:timers/promises';
import type { Storage } from '@ostiary/core/storage';
import { seeded } from '../../support/arguments.ts';
import type { Claim } from '../../support/proof.ts';
import { type Installation, install } from './installation.ts';
import { createOutside, type Outside } from './outside.ts';
import { createPartner } from './partner.ts';
import { createWorld, type Source, type World } from './world.ts';

const [second, hour] = [1_000, 3_600_000];
const day = 24 * hour;
/** Time without disturbances at the end of a run, in milliseconds: longer than all retry waits together. */
const quietMs = 3.5 * hour;
const sizes = [1, 1.9, 2.1, 5, 10, 60, 600, 3_600, 6 * 3_600, 86_400].map((seconds) => seconds * second);

/** Makes the random operations of a run: changing clocks, suspending processes and letting them work. */
function createOperations({ world }: World, outside: Outside, { processes }: Installation) {
  const { random } = outside;
  const done = { steps: 0, suspensions: 0 };
  const awake = () => processes.filter(({ suspendedUntil }) => suspendedUntil <= world.real);

  /** Changes a clock, or suspends one process or all processes. */
  function disturb(): void {
    const size = sizes[Math.floor(random() * sizes.length)] ?? 0;
    if (random() < 0.7) {
      done.steps += 1;
      world.ahead += random() < 0.5 ? -size : size;
      // A clock that is more than two days ahead or behind is set right again.
      if (Math.abs(world.ahead) > 2 * day) world.ahead = 0;
      outside.disturbed();
      return;
    }
    done.suspensions += 1;
    outside.disturbed();
    if (random() < 0.5) {
      const [one] = awake();
      if (one !== undefined) one.suspendedUntil = world.real + Math.min(size, hour);
    } else {
      // Suspends the whole machine: time passes without any work.
      for (const process of awake()) process.suspendedUntil = world.real + size;
      world.real += size;
    }
    outside.disturbed();
  }

  /** Lets each process that is not suspended do its due work. */
  async function workAll(): Promise<void> {
    for (const process of awake()) {
      await process.measure();
      process.ostiary.now();
      process.work ??= process.ostiary.worker.runDue().finally(() => {
        process.work = null;
      });
    }
    // Wait for calls of the database: on a slow machine, leases would otherwise expire while results are
    // written. Do not wait for hanging attempts, which need simulated time to pass. On a busy machine, each wait may be a
    // single turn of the event loop, and results wait up to 16 turns for others before they are written.
    const isBusy = () => processes.some(({ work }) => work !== null);
    const isCalling = () => processes.some(({ callsUnderWay }) => callsUnderWay() > 0);
    for (
      let quiet = 0;
      isBusy() && !(outside.isHanging() && quiet >= 20);
      quiet = isCalling() ? 0 : quiet + 1
    )
      await setTimeout(1);
  }

  return { awake, disturb, workAll, done };
}

/** Runs two Ostiary processes on one database while clocks are changed and machines are suspended. */
export async function simulate({
  source,
  storageOf,
  seed,
  ticks,
}: {
  readonly source: Source;
  /** Makes a storage on one shared database for each process. */
  readonly storageOf: () => Storage;
  readonly seed: number;
  /** Number of five-second steps with disturbed clocks. */
  readonly ticks: number;
}): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  const random = seeded(seed);
  const clocks = createWorld(source);
  const { world } = clocks;
  const outside = createOutside(clocks, random);
  const installation = await install(ends, clocks, outside, storageOf);
  const partner = createPartner(clocks, outside, installation);
  const { awake, disturb, workAll, done } = createOperations(clocks, outside, installation);

  async function tick(isDisturbed: boolean): Promise<void> {
    const before = world.real;
    // An attempt ends after nine seconds at most, well before its lease does.
    world.real += (isDisturbed || outside.isHanging() ? 5 : 30) * second;
    // Work of a process that has just woken may have been interrupted.
    if (awake().some(({ suspendedUntil }) => suspendedUntil > before)) outside.disturbed();
    outside.proceed();
    if (isDisturbed && random() < 0.06) {
      disturb();
      for (const process of awake()) process.ostiary.now();
      // Let the database finish work that this step has started.
      await setTimeout(15);
    }
    for (const process of awake()) partner.expire(process);
    await workAll();
    const process = awake()[Math.floor(random() * awake().length)];
    if (process === undefined) return;
    const what = random();
    if (isDisturbed && what < 0.15) await partner.pay(process);
    else if (what < 0.3) await partner.check(process);
    else if (what < 0.4) await partner.issue(process);
    else if (what < 0.6) await partner.probe(process);
  }

  for (let done = 0; done < ticks; done += 1) await tick(true);
  for (const end = world.real + quietMs; world.real < end; ) await tick(false);
  while (outside.isHanging()) await tick(false);
  await workAll();
  const { late, old, undone, twice, payments, deliveries, repeated } = outside.report();
  const disturbances = `${done.steps} steps, ${done.suspensions} suspensions`;
  return [
    {
      name: 'every payment and delivery is done',
      problems: undone,
      found: `${payments} and ${deliveries}; ${disturbances}`,
    },
    { name: 'none later than its wait after the last step', problems: late },
    { name: 'nothing twice, but what was under way then', problems: twice, found: `${repeated} repeated` },
    { name: 'webhooks are signed with the time of the clock', problems: old },
    { name: 'limits open again', problems: partner.problems.limits, found: `${partner.done.probes} probes` },
    {
      name: 'tokens and passports end when they were to',
      problems: partner.problems.tokens,
      found: `${partner.done.checks} checks`,
    },
  ];
}
