import type { Core } from '../options/context.ts';
import type { Resealed } from '../ports/host-secrets.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Counts the host application's secrets that another key than the first encrypts. @throws TypeError for an invalid number */
export async function countHostSecrets({ options: { hostSecrets } }: Core): Promise<number> {
  const count = hostSecrets === undefined ? 0 : await hostSecrets.countSealedOtherwise();
  if (!isCount(count)) throw new TypeError('hostSecrets.countSealedOtherwise must return a whole number');
  return count;
}

/** Encrypts the host application's secrets with the first key. @throws TypeError for invalid numbers */
export async function resealHostSecrets({ options: { hostSecrets } }: Core): Promise<Resealed> {
  if (hostSecrets === undefined) return { sealed: 0, unopened: 0 };
  const resealed = await hostSecrets.reseal();
  if (!isCount(resealed?.sealed) || !isCount(resealed.unopened))
    throw new TypeError('hostSecrets.reseal must return sealed and unopened, both whole numbers');
  return resealed;
}
