/**
 * Proof: deliveries by a worker that is killed again and again, to receivers that misbehave. See
 * ../README.md.
 */
import { randomInt } from 'node:crypto';
import { numbersFrom } from '../../support/arguments.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { proveFairness } from './fairness.ts';
import { proveShares } from './flood.ts';
import { behaviours, prove } from './prove.ts';
import { emptyStorages } from './storages.ts';

const { seed, deliveries, kills } = numbersFrom({
  /** Seed that repeats the same moments of the kills. */
  seed: randomInt(2 ** 31),
  deliveries: 10_000,
  kills: 30,
});

console.log(`${deliveries} deliveries and ${kills} kills for each receiver, seed ${seed}\n`);
const claims: Claim[] = [];
for (const behaviour of behaviours) {
  const report = await prove(behaviour, { deliveries, kills, seed });
  claims.push(...report.claims.map((one) => ({ ...one, name: `${behaviour}: ${one.name}` })));
  console.log(`${behaviour}: ${report.requests} requests, ${report.duplicates} events accepted twice`);
}
claims.push(await proveFairness({ seconds: 30, everyMs: 50, backlog: 20 }));
for (const [name, open] of Object.entries(emptyStorages)) {
  for (const mode of ['live', 'test'] as const) {
    await using ends = new AsyncDisposableStack();
    const proven = await proveShares(await open(ends), { mode, events: 200, samples: 50 });
    claims.push({ ...proven, name: `${name}: ${proven.name}` });
  }
}
endProof(claims, seed);
