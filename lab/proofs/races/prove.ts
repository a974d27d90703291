import { setStage } from '../../support/processes/stage.ts';
import { staged } from '../../support/proof.ts';
import { raceForDeliveries } from './deliveries.ts';
import type { RaceReport } from './race.ts';
import { raceForCodes, raceForLimits, raceForTransfers, raceLimit } from './requests.ts';

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
export function prove({
  runs,
  redemptions,
  repetitions,
  requests,
  deliveries,
  fsync,
}: RaceSize): Promise<RaceReport[]> {
  return staged(async (ends) => {
    const stage = await setStage(ends, {
      ...{ webs: 2, workers: 4, endpoints: 10, isWorking: false, receiver: 'refusing every fifth', fsync },
      partnerLimits: { users: raceLimit },
    });
    return [
      await raceForCodes(stage, { runs, parallel: redemptions }),
      await raceForTransfers(stage, { runs, parallel: repetitions }),
      await raceForLimits(stage, { runs, parallel: requests }),
      await raceForDeliveries(stage, { runs, deliveries }),
    ];
  });
}
