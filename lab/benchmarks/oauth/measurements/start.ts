import type { ServerProcess } from '../../../support/measure/server-process.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import { newDatabase } from '../../../support/measure/temporary.ts';
import { paths } from '../fixture.ts';
import { type ProviderName, providers, startProvider } from '../providers.ts';

/** Starts a provider and answers how many milliseconds passed from the spawn to the first discovery document. */
async function timeStart(start: () => Promise<ServerProcess>): Promise<number> {
  const started = performance.now();
  const server = await start();
  const response = await fetch(`http://127.0.0.1:${server.port}${paths.discovery}`);
  await response.json();
  const elapsed = performance.now() - started;
  if (response.status !== 200) throw new Error(`discovery answered ${response.status}`);
  await server.stop();
  return elapsed;
}

/** Milliseconds from the spawn to the first discovery document; Ostiary on a database that has its keys, the bare provider with a given key. */
export async function measureStart(options: {
  readonly rounds: number;
  readonly flags: readonly string[];
}): Promise<Comparison> {
  const file = newDatabase();
  const times: Record<ProviderName, number[]> = { bare: [], ostiary: [] };
  const measure = (name: ProviderName) => timeStart(() => startProvider(name, options.flags, file));
  // The first start creates the database, and both bring their files into the page cache.
  for (const name of providers) await measure(name);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const name of providers) times[name].push(await measure(name));
  }
  return times;
}
