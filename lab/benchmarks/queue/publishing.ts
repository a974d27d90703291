import { inTurns } from '../../support/measure/statistics.ts';
import type { Arena } from './arena.ts';
import type { Best, Size } from './drain.ts';

/** Number of concurrent publishers of events. */
export const publishers = 64;

/**
 * Measures published events per second while another process delivers: in turns with and without notifying
 * the workers.
 */
export async function measurePublishing(arena: Arena, { ostiary: setting }: Best, { rounds, count }: Size) {
  const worker = await arena.start('ostiary', setting);
  await worker.ask('start');
  const sideOf = async (isSilent: boolean) => {
    const process = await arena.start('ostiary', setting, isSilent);
    return async () => {
      await arena.sink.ask('take');
      const arrived = arena.sink.ask('expect', count);
      const rate = await process.ask<number>('publishAll', { publishers, count });
      await arrived;
      return rate;
    };
  };
  const rates = await inTurns(rounds, { silent: await sideOf(true), telling: await sideOf(false) });
  await worker.ask('stop');
  return rates;
}
