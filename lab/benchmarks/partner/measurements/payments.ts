import { measureRate, postJson, type RawRequest } from '../../../support/measure/load.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import type { PostgresServer } from '../../../support/postgres/as-installed.ts';
import { paths, users } from '../fixture.ts';
import { startBare, startBareOnPostgres, startOstiary } from '../servers.ts';

let sent = 0;

/** Payments that nobody has seen yet: each has an `Idempotency-Key` of its own. */
function payments(port: number, key: string, count: number): RawRequest[] {
  return Array.from({ length: count }, () => {
    sent += 1;
    return postJson(
      port,
      paths.payments,
      { 'x-api-key': key, 'idempotency-key': `payment-${sent}` },
      {
        amount: `${1 + (sent % 500)}.00`,
        currency: 'HTG',
        recipient: { kid: users[sent % users.length]?.kid },
        description: `Invoice ${sent}`,
      },
    );
  });
}

/**
 * Payments per second, every answered one on the disk on either side; Ostiary's worker executes them meanwhile.
 * @param options - `postgres`: where both have their tables; without it each has a SQLite file
 */
export async function measurePayments(options: {
  readonly rounds: number;
  readonly perRound: number;
  readonly flags: readonly string[];
  readonly postgres?: PostgresServer;
}): Promise<Comparison> {
  const { rounds, perRound, flags, postgres } = options;
  const { server, key } = await startOstiary(flags, await postgres?.newDatabase());
  const bare =
    postgres === undefined
      ? await startBare({ verification: null, user: null }, flags)
      : await startBareOnPostgres(await postgres.newDatabase(), flags);
  const servers = { bare, ostiary: server };
  const rates: Record<keyof Comparison, number[]> = { bare: [], ostiary: [] };
  const measure = ({ port }: { readonly port: number }) =>
    measureRate({ port, requests: payments(port, key, perRound), expected: '"status":"pending"' });
  for (const run of Object.values(servers)) await measure(run);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['bare', 'ostiary'] as const) rates[name].push(await measure(servers[name]));
  }
  if (!(await bare.ask<boolean>('isDurable')))
    throw new Error('the bare database does not wait for the disk');
  for (const run of Object.values(servers)) await run.stop();
  return rates;
}
