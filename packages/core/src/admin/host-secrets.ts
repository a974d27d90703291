import type { Core } from '../options/context.ts';
import type { ResealedPortion } from '../ports/host-secrets.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Counts the host application's secrets that another key than the first encrypts. @throws TypeError for an invalid number */
export async function countHostSecrets({ options: { hostSecrets } }: Core): Promise<number> {
  const count = hostSecrets === undefined ? 0 : await hostSecrets.countSealedOtherwise();
  if (!isCount(count)) throw new TypeError('hostSecrets.countSealedOtherwise must return a whole number');
  return count;
}

/** Encrypts a portion of the host application's secrets with the first key. @throws TypeError for an invalid result */
export async function resealHostSecrets({ options: { hostSecrets } }: Core): Promise<ResealedPortion> {
  if (hostSecrets === undefined) return { sealed: 0, unopened: 0 };
  const resealed = await hostSecrets.reseal();
  if (!isCount(resealed?.sealed) || !isCount(resealed.unopened))
    throw new TypeError('hostSecrets.reseal must return sealed and unopened, both whole numbers');
  if (typeof (resealed.hasMore ?? false) !== 'boolean')
    throw new TypeError('hostSecrets.reseal must return true or false as hasMore');
  return resealed;
}
