import { type ClientKeys, hasKeys, isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { fieldProblems } from '../text/field-problems.ts';

/** Returns the name of the setting that contains a client's keys: `jwks` or `jwksUri`. */
export const nameOfKeys = ({ jwks }: { readonly jwks?: object | null | undefined }): string =>
  jwks ? 'jwks' : 'jwksUri';

/**
 * Validates the keys that an administrator sets for a client.
 * @throws TypeError if a key cannot be used, or the option `privateKeyJwt` is off
 */
export async function readKeys(
  { options }: Core,
  {
    jwks,
    jwksUri,
  }: { readonly jwks: object | null | undefined; readonly jwksUri: string | null | undefined },
): Promise<ClientKeys> {
  if ((jwks || jwksUri) && !options.privateKeyJwt)
    throw new TypeError(`${nameOfKeys({ jwks })}: ${fieldProblems.option_keys}`);
  return {
    ...(jwks !== undefined && {
      jwks: jwks && (await import('../keys/client-jwks.ts')).readClientJwks(jwks),
    }),
    ...(jwksUri !== undefined && { jwksUri }),
  };
}

/**
 * Returns the form in which the audit log records a client's keys: their key ids, or the URL of their
 * document.
 */
export function recordedKeys({ jwks, jwksUri }: ClientKeys): JsonObject {
  return {
    ...(jwks !== undefined && { jwks: jwks?.keys.map(({ kid }) => kid ?? null) ?? null }),
    ...(jwksUri !== undefined && { jwksUri }),
  };
}

/**
 * Checks that a change of keys does not turn a client without credentials into a client with keys, or the
 * reverse.
 * @throws TypeError if it does
 */
export function refuseOtherKind(before: ClientRecord, after: ClientRecord): void {
  if (isPublicClient(before) && hasKeys(after))
    throw new TypeError(`${nameOfKeys(after)}: ${fieldProblems.keys_public}`);
  if (hasKeys(before) && !hasKeys(after))
    throw new TypeError(
      `${nameOfKeys(before)}: the client authenticates with keys, and would have none; issue a secret that replaces them`,
    );
}
