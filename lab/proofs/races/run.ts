import { setStage } from '../../support/processes/stage.ts';
import { raceForCodes } from './codes.ts';
import { raceForDeliveries } from './deliveries.ts';
import { raceForTransfers } from './idempotency.ts';
import { raceForLimits, raceLimit } from './limits.ts';
import type { RaceReport } from './race.ts';

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
export async function race(
  size: RaceSize,
  told: (report: RaceReport) => void = () => {},
): Promise<RaceReport[]> {
  const { runs } = size;
  const stage = await setStage({
    webs: 2,
    workers: 4,
    endpoints: 10,
    isWorking: false,
    refusedFirst: 5,
    fsync: size.fsync,
    partnerLimits: { users: raceLimit },
  });
  try {
    const reports: RaceReport[] = [];
    for (const one of [
      () => raceForCodes(stage, { runs, parallel: size.redemptions }),
      () => raceForTransfers(stage, { runs, parallel: size.repetitions }),
      () => raceForLimits(stage, { runs, parallel: size.requests }),
      () => raceForDeliveries(stage, { runs, deliveries: size.deliveries }),
    ]) {
      const report = await one();
      reports.push(report);
      told(report);
    }
    return reports;
  } finally {
    await stage.end();
  }
}
