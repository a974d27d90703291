import { type ClientKeys, hasKeys, isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { JsonObject } from '../ports/interactions.ts';

/** Returns the setting that has a client's keys. */
export const nameOfKeys = ({ jwks }: { readonly jwks?: object | null | undefined }): string =>
  jwks ? 'jwks' : 'jwksUri';

/**
 * Reads the keys that an administrator gives a client.
 * @throws TypeError if one is of no use, or clients cannot authenticate with keys
 */
export async function readKeys(
  { options }: Core,
  {
    jwks,
    jwksUri,
  }: { readonly jwks: object | null | undefined; readonly jwksUri: string | null | undefined },
): Promise<ClientKeys> {
  if ((jwks || jwksUri) && !options.privateKeyJwt)
    throw new TypeError(`${nameOfKeys({ jwks })}: needs the option privateKeyJwt`);
  return {
    ...(jwks !== undefined && {
      jwks: jwks && (await import('../keys/client-jwks.ts')).readClientJwks(jwks),
    }),
    ...(jwksUri !== undefined && { jwksUri }),
  };
}

/** Keys as the audit log has them: by their ids. */
export function recordedKeys({ jwks, jwksUri }: ClientKeys): JsonObject {
  return {
    ...(jwks !== undefined && { jwks: jwks?.keys.map(({ kid }) => kid ?? null) ?? null }),
    ...(jwksUri !== undefined && { jwksUri }),
  };
}

/** @throws TypeError for a client that would become a public one, or has been one */
export function refuseOtherKind(before: ClientRecord, after: ClientRecord): void {
  if (isPublicClient(before) && hasKeys(after))
    throw new TypeError(`${nameOfKeys(after)}: a public client has no keys`);
  if (hasKeys(before) && !hasKeys(after))
    throw new TypeError(`${nameOfKeys(before)}: the client authenticates with keys, and would have none`);
}
