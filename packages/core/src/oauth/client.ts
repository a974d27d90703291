import { OAuthError } from '../errors.ts';
import type { ClientRecord, ClientState, ClientStore } from '../ports/clients.ts';
import { isReservedName } from '../text/reserved-names.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';

/** Checks whether a client was found, and neither it nor the partner that it belongs to is disabled. */
export function isEnabled(client: ClientState | null): client is ClientState & { readonly disabledAt: null } {
  return client !== null && client.disabledAt === null && !client.partnerDisabled;
}

/** Checks whether a text has the form of a client id. Others are not looked up. */
export const isClientId = (text: string): boolean =>
  /^[A-Za-z0-9_-]{1,255}$/.test(text) && !isReservedName(text);

/** Returns the client that sent the browser. @throws OAuthError if there is no enabled one */
export async function requireClient(clients: ClientStore, clientId: string): Promise<ClientRecord> {
  const client = isClientId(clientId) ? await clients.find(clientId) : null;
  if (!isEnabled(client)) throw new OAuthError('invalid_client', 'The client is not known.');
  return client;
}

/** A client without a secret, which therefore always needs PKCE (RFC 6749, section 2.1). */
export function isPublicClient(client: ClientRecord): boolean {
  return client.secrets.length === 0;
}

export function needsPkce(client: ClientRecord): boolean {
  return client.requirePkce || isPublicClient(client);
}

/**
 * Decides whether the user is asked every time. Another program could pose as a client whose answer goes to a loopback
 * address or to a private-use scheme (RFC 8252, section 8.6), unless the administrator vouches for the client.
 *
 * @param redirectUri - of the request: another redirect URI of the client has no influence
 */
export function isAskedEveryTime(client: ClientRecord, redirectUri: string): boolean {
  return !client.firstParty && new URL(redirectUri).protocol !== 'https:';
}

/**
 * The administrator may have changed the client while the user was asked.
 * @throws OAuthError that is shown as a page, because there may be no address any more to which it could be sent
 */
export function requireStillAllowed(
  client: ClientRecord,
  redirectUri: string,
  scopes: Iterable<string>,
): void {
  if (!isRegisteredRedirectUri(client, redirectUri)) throw new OAuthError('redirect_uri_mismatch');
  for (const scope of scopes)
    if (!client.allowedScopes.includes(scope)) throw new OAuthError('invalid_scope');
}

/** Checks whether an error is that of {@link unknownRequest}. */
export const isUnknownRequest = (error: unknown): boolean =>
  error instanceof OAuthError && error.page === 'expired';

/** Error of a request about an authorization request that is unknown or has ended. */
export function unknownRequest(): OAuthError {
  const description = 'The authorization request is not known (any more).';
  return new OAuthError('invalid_request', description, { page: 'expired' });
}
