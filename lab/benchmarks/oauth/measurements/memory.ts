import { measureRate } from '../../../support/measure/load.ts';
import type { Comparison } from '../../../support/measure/statistics.ts';
import { type ProviderName, providers, startProvider } from '../providers.ts';
import { userinfoField, userinfoRequests } from './userinfo.ts';

/** Bytes of resident memory after userinfo calls with as many live tokens as there are users, in a fresh process each. */
export async function measureMemory(options: {
  readonly rounds: number;
  readonly calls: number;
  readonly flags: readonly string[];
}): Promise<Comparison> {
  const bytes: Record<ProviderName, number[]> = { bare: [], ostiary: [] };
  for (let round = 0; round < options.rounds; round += 1) {
    for (const name of providers) {
      const server = await startProvider(name, options.flags);
      const requests = await userinfoRequests(server);
      await measureRate({ port: server.port, requests, count: options.calls, expected: userinfoField });
      bytes[name].push(await server.ask<number>('memory'));
      await server.stop();
    }
  }
  return bytes;
}
