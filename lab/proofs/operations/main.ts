/** Proof: the operators' procedures are run on the service under load. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { endProof } from '../../support/proof.ts';
import { proveBackup } from './backup.ts';
import { postgresSource } from './backup-postgres.ts';
import { sqliteSource } from './backup-sqlite.ts';
import { prove } from './prove.ts';

const { rate, overlap } = numbersFrom({
  /** Number of operations per second, all kinds together. */
  rate: 20,
  /** Time for which replaced secrets and keys remain valid, in seconds. */
  overlap: 10,
});
console.log(
  'two web processes and two workers of the reference server on one PostgreSQL, behind a balancer\n',
);
const rates = { userinfo: rate * 0.6, exchange: rate * 0.1, verify: rate * 0.1, payment: rate * 0.2 };
const done = (name: string): void => console.error(`${name}: done`);
const claims = await prove({ workers: 2, rates, overlapSeconds: overlap, quietSeconds: 5 }, done);
for (const open of [postgresSource, sqliteSource]) {
  await using ends = new AsyncDisposableStack();
  const source = await open(ends);
  if (source === null) {
    claims.push({ name: 'backup with pg_dump', problems: [], found: 'skipped: there is no pg_dump' });
    continue;
  }
  claims.push(await proveBackup(source, rates));
  done(source.name);
}
endProof(claims);
