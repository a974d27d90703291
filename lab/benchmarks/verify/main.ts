/**
 * Measures the webhook verifier against other libraries and the bare computation, in processes that take turns. See README.md.
 */
import { Benchmark } from '../../support/measure/benchmark.ts';
import { inTurns } from '../../support/measure/statistics.ts';
import type { CandidateName } from './fixture.ts';

/** What is asked for beside each. */
const atLeast: Readonly<Record<Exclude<CandidateName, 'ostiary'>, number>> = {
  svix: 1,
  standardwebhooks: 1,
  stripe: 1,
  limit: 0.8,
};

async function measureVerifications(bench: Benchmark): Promise<void> {
  const rounds = bench.isQuick ? 9 : 51;
  const sideOf = async (name: CandidateName) => {
    const worker = await bench.start('worker', { name });
    await worker.ask('verify', 65_536);
    // Short rounds, so that whatever else the machine does hits all candidates of a round alike.
    return () => worker.ask<number>('verify', 8_192);
  };
  const rates = await inTurns(rounds, {
    ostiary: await sideOf('ostiary'),
    limit: await sideOf('limit'),
    svix: await sideOf('svix'),
    standardwebhooks: await sideOf('standardwebhooks'),
    stripe: await sideOf('stripe'),
  });
  for (const name of ['svix', 'standardwebhooks', 'stripe', 'limit'] as const) {
    const target = { name, unit: '/s', scale: 1, ratio: { atLeast: atLeast[name] } };
    bench.compare(target, { bare: rates[name], ostiary: rates.ostiary });
  }
}

const benchmark = new Benchmark(
  import.meta.dirname,
  (bench) => ({ measure: { verifications: () => measureVerifications(bench) } }),
  { isStrict: true },
);
await benchmark.run();
