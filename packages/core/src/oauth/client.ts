import { OAuthError } from '../errors.ts';
import { isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord, ClientState } from '../ports/clients.ts';
import { isReservedName } from '../text/reserved-names.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';

/** Checks that a client was found, and that neither the client nor its partner is disabled. */
export function isEnabled(client: ClientState | null): client is ClientState & { readonly disabledAt: null } {
  return client !== null && client.disabledAt === null && !client.partnerDisabled;
}

/**
 * Checks whether a text has the format of a client id, other than the URL of a metadata document. A text that
 * is neither is not searched for in the database.
 */
export const isClientId = (text: string): boolean =>
  /^[A-Za-z0-9_-]{1,255}$/.test(text) && !isReservedName(text);

/**
 * Finds a client by its id: one that an administrator created, or one whose metadata document was read
 * before. `null` if there is none. Fetches no document: only an authorization request does, see
 * {@link findRequestingClient}.
 */
export async function findClient(
  { storage, clientDocuments }: Core,
  clientId: string,
): Promise<ClientState | null> {
  if (isClientId(clientId)) return storage.clients.find(clientId);
  return clientDocuments === null ? null : clientDocuments.find(clientId);
}

/**
 * Finds the client of an authorization request, as {@link findClient} does. Also reads the client's metadata
 * document if necessary.
 * @param address - client address of the request
 * @throws OAuthError if the document cannot be used
 */
export async function findRequestingClient(
  { storage, clientDocuments }: Core,
  clientId: string,
  address: string | null,
): Promise<ClientState | null> {
  if (isClientId(clientId)) return storage.clients.find(clientId);
  return clientDocuments === null ? null : clientDocuments.read(clientId, address);
}

/** Returns a client if it is enabled. @throws OAuthError if the client is disabled or unknown */
export function requireEnabled(client: ClientState | null): ClientRecord {
  if (!isEnabled(client)) throw new OAuthError('invalid_client', 'The client is not known.');
  return client;
}

export function needsPkce(client: ClientRecord): boolean {
  return client.requirePkce || isPublicClient(client);
}

/**
 * Decides whether the user is asked for consent every time. If the response goes to a loopback address or a
 * private-use scheme, another program could pose as the client (RFC 8252, section 8.6), so consent is not
 * remembered unless the administrator trusts the client. For a client with a metadata document, which no
 * administrator has checked, the user is always asked.
 *
 * @param redirectUri - redirect URI of the request; other redirect URIs of the client do not matter
 */
export function isAskedEveryTime(client: ClientRecord, redirectUri: string): boolean {
  if (client.document !== undefined) return true;
  return !client.firstParty && new URL(redirectUri).protocol !== 'https:';
}

/**
 * Checks whether a URI is a website that no administrator has checked, because the client's metadata document
 * names it. The browser is sent there only after the user was asked: otherwise anyone could make a link to this
 * service that leads to a website of their own (RFC 9700, section 4.11.2).
 */
export function isUncheckedWebsite({ document }: ClientRecord, uri: string): boolean {
  return document !== undefined && new URL(uri).protocol === 'https:';
}

/**
 * Checks that an authorization request is still allowed, because the administrator may have changed the
 * client while the user was asked.
 * @throws OAuthError, shown as a page, because the redirect URI may no longer be allowed
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

/** Checks whether an error was created by {@link unknownRequest}. */
export const isUnknownRequest = (error: unknown): boolean =>
  error instanceof OAuthError && error.page === 'expired';

/** Creates the error for an authorization request that is unknown or has expired. */
export function unknownRequest(): OAuthError {
  const description = 'The authorization request is not known (any more).';
  return new OAuthError('invalid_request', description, { page: 'expired' });
}

/**
 * Creates the error for an authorization request that a script sent. No page would show its interaction: a
 * script follows redirects, and each request would leave a row and cookies behind.
 */
export function startedByScript(): OAuthError {
  return new OAuthError(
    'login_required',
    'The user has to sign in or to consent. A script cannot do that: open this address as a page, such as with location.assign().',
    { status: 401 },
  );
}
