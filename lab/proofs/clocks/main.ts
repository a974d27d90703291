/** Proof: clocks are changed and machines are suspended while an installation works. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { simulate } from './simulate.ts';
import { onPostgres, onSqlite } from './storages.ts';

const { seed, seeds, ticks } = numbersFrom({
  /** Seed of the first run of the clock proof. */
  seed: 1,
  /** Number of runs on each kind of storage. */
  seeds: 5,
  /** Number of five-second steps with disturbed clocks in each run. */
  ticks: 4_000,
});

const claims: Claim[] = [];
await using ends = new AsyncDisposableStack();
const newPostgres = await onPostgres(ends);
for (let run = 0; run < seeds; run += 1) {
  for (const [name, storages] of [
    ['SQLite', onSqlite(ends)],
    ['PostgreSQL', await newPostgres()],
  ] as const) {
    const found = await simulate({ ...storages, seed: seed + run, ticks });
    claims.push(...found.map((claim) => ({ ...claim, name: `${name}, seed ${seed + run}: ${claim.name}` })));
  }
}
await ends.disposeAsync();
endProof(claims, seed);
