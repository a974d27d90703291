import { setStage } from '../../support/processes/stage.ts';
import type { Claim } from '../../support/proof.ts';
import { endpoints, raceForDeliveries } from './deliveries.ts';
import { raceForCodes, raceForLimits, raceForRefreshTokens, raceForTransfers } from './requests.ts';

/** Numbers of runs and of concurrent calls of each race. */
type Size = Readonly<Record<'runs' | 'redemptions' | 'repetitions' | 'requests' | 'deliveries', number>>;

/** Runs every race on two web processes and four workers with one PostgreSQL. */
export async function prove({ fsync, ...size }: Size & { readonly fsync: boolean }): Promise<Claim[]> {
  const { runs, deliveries } = size;
  await using ends = new AsyncDisposableStack();
  const stage = await setStage(ends, {
    ...{ webs: 2, workers: 4, endpoints, isWorking: false, receiver: 'refusing every fifth', fsync },
  });
  return [
    await raceForCodes(stage, { runs, parallel: size.redemptions }),
    await raceForRefreshTokens(stage, { runs, parallel: size.redemptions }),
    await raceForTransfers(stage, { runs, parallel: size.repetitions }),
    await raceForLimits(stage, { runs, parallel: size.requests }),
    await raceForDeliveries(stage, { runs, deliveries }),
  ];
}
