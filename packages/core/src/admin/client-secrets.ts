import type { Core } from '../options/context.ts';
import type { ClientSecretRecord } from '../ports/clients.ts';
import { digest } from '../secrets/tokens.ts';
import { excessiveCost } from './secret-hash-cost.ts';

/** Generates a client secret. Returns the secret and the record to store. */
export function newSecret(
  { tokens, random }: Core,
  now: number,
): { secret: string; record: ClientSecretRecord } {
  const secret = tokens.newClientSecret(random);
  return { secret, record: { digest: digest(secret), createdAt: now, expiresAt: null } };
}

/**
 * Returns the record to store for a client secret, or a hash of one, that the administrator supplied; `null`
 * if the administrator supplied neither.
 */
export function broughtSecret(
  { options }: Core,
  {
    isPublic,
    clientSecret,
    clientSecretHash,
  }: { isPublic: boolean; clientSecret: string | undefined; clientSecretHash: string | undefined },
  now: number,
): ClientSecretRecord | null {
  if (clientSecret === undefined && clientSecretHash === undefined) return null;
  if (isPublic) throw new TypeError('clientSecret: a public client has no secret');
  const dates = { createdAt: now, expiresAt: null };
  if (clientSecretHash === undefined) return { digest: digest(clientSecret ?? ''), ...dates };
  if (clientSecret !== undefined) throw new TypeError('clientSecretHash: the secret itself is given');
  if (options.verifyImportedSecret === undefined)
    throw new TypeError(
      'clientSecretHash: needs the option verifyImportedSecret, which checks secrets against it',
    );
  const excess = excessiveCost(clientSecretHash);
  if (excess !== null) throw new TypeError(`clientSecretHash: ${excess}`);
  return { digest: Buffer.from(clientSecretHash), imported: true, ...dates };
}

/**
 * Returns a client's replaced secrets, which now expire at `endsAt` or earlier. Leaves out those that have
 * expired already.
 */
export function ending(
  secrets: readonly ClientSecretRecord[],
  now: number,
  endsAt: number,
): readonly ClientSecretRecord[] {
  return secrets
    .map((old) => ({ ...old, expiresAt: Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, endsAt) }))
    .filter((old) => old.expiresAt > now);
}
