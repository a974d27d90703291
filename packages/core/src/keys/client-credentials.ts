import type { ClientRecord } from '../ports/clients.ts';

/** Members of a client record that contain the client's keys. */
export type ClientKeys = Pick<ClientRecord, 'jwks' | 'jwksUri'>;

/** Checks whether a client authenticates with its own key (`private_key_jwt`) instead of a secret. */
export function hasKeys({ jwks, jwksUri }: ClientKeys): boolean {
  return Boolean(jwks) || Boolean(jwksUri);
}

/** Checks whether a client has neither a secret nor keys, and therefore always needs PKCE (RFC 6749, section 2.1). */
export function isPublicClient(client: ClientKeys & Pick<ClientRecord, 'secrets'>): boolean {
  return client.secrets.length === 0 && !hasKeys(client);
}
