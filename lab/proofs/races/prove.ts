import { setStage } from '../../support/processes/stage.ts';
import type { Claim } from '../../support/proof.ts';
import { endpoints, raceForDeliveries } from './deliveries.ts';
import { raceForCodes, raceForLimits, raceForTransfers } from './requests.ts';

/** How large the races are. */
export interface RaceSize {
  readonly runs: number;
  /** Redemptions of one code at once. */
  readonly redemptions: number;
  /** Requests with one `Idempotency-Key` at once. */
  readonly repetitions: number;
  /** Requests of one API key at once. */
  readonly requests: number;
  readonly deliveries: number;
  readonly fsync: boolean;
}

/** Runs every race over two web processes and four workers on one PostgreSQL. */
export async function prove({
  runs,
  redemptions,
  repetitions,
  requests,
  deliveries,
  fsync,
}: RaceSize): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  const stage = await setStage(ends, {
    ...{ webs: 2, workers: 4, endpoints, isWorking: false, receiver: 'refusing every fifth', fsync },
  });
  return [
    await raceForCodes(stage, { runs, parallel: redemptions }),
    await raceForTransfers(stage, { runs, parallel: repetitions }),
    await raceForLimits(stage, { runs, parallel: requests }),
    await raceForDeliveries(stage, { runs, deliveries }),
  ];
}
