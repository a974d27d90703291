import { setImmediate } from 'node:timers/promises';
import type { Core } from '../options/context.ts';
import type { HostSecrets, ResealedPortion } from '../ports/host-secrets.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Counts the host application's secrets that another key than the first encrypts. @throws TypeError for an invalid number */
export async function countHostSecrets({ options: { hostSecrets } }: Core): Promise<number> {
  const count = hostSecrets === undefined ? 0 : await hostSecrets.countSealedOtherwise();
  if (!isCount(count)) throw new TypeError('hostSecrets.countSealedOtherwise must return a whole number');
  return count;
}

async function resealPortion(hostSecrets: HostSecrets): Promise<ResealedPortion> {
  const portion = await hostSecrets.reseal();
  if (!isCount(portion?.sealed) || !isCount(portion.unopened))
    throw new TypeError('hostSecrets.reseal must return sealed and unopened, both whole numbers');
  if (typeof (portion.hasMore ?? false) !== 'boolean')
    throw new TypeError('hostSecrets.reseal must return true or false as hasMore');
  return portion;
}

/**
 * Encrypts the host application's secrets with the first key, in at most `maxPortions` portions. Waits a turn
 * of the event loop after each portion; with a function that responds at once, other requests could not run
 * otherwise.
 * @returns the sum of `sealed`, and the rest of the last portion
 * @throws TypeError for an invalid result
 */
export async function resealHostSecrets(
  { options: { hostSecrets } }: Core,
  maxPortions = Number.POSITIVE_INFINITY,
): Promise<ResealedPortion> {
  if (hostSecrets === undefined) return { sealed: 0, unopened: 0 };
  let last: ResealedPortion = { sealed: 0, unopened: 0, hasMore: true };
  let sealed = 0;
  for (let portions = 0; last.hasMore && portions < maxPortions; portions += 1) {
    last = await resealPortion(hostSecrets);
    sealed += last.sealed;
    await setImmediate();
  }
  return { ...last, sealed };
}
