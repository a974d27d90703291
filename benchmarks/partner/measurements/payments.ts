import { measureRate, postJson, type RawRequest } from '../../shared/load.ts';
import type { Comparison } from '../../shared/statistics.ts';
import { paths, users } from '../fixture.ts';
import { startBare, startOstiary } from '../servers.ts';

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

/** Payments per second, every answered one on the disk on either side; Ostiary's worker executes them meanwhile. */
export async function measurePayments(options: {
  readonly rounds: number;
  readonly perRound: number;
  readonly flags: readonly string[];
}): Promise<Comparison> {
  const { rounds, perRound, flags } = options;
  const { server, key } = await startOstiary(flags);
  const bare = await startBare({ verification: null, user: null }, flags);
  const servers = { bare, ostiary: server };
  const rates: Record<keyof Comparison, number[]> = { bare: [], ostiary: [] };
  const measure = ({ port }: { readonly port: number }) =>
    measureRate({ port, requests: payments(port, key, perRound), expected: '"status":"pending"' });
  for (const run of Object.values(servers)) await measure(run);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['bare', 'ostiary'] as const) rates[name].push(await measure(servers[name]));
  }
  const level = await bare.ask<number>('synchronous');
  if (level !== 2) throw new Error(`the bare database ran with synchronous = ${level}`);
  for (const run of Object.values(servers)) await run.stop();
  return rates;
}
