import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { printableUrl } from '../text/printable.ts';
import { findClient, requireEnabled } from './client.ts';
import { readIdTokenHint } from './id-token-hint.ts';
import { redirectLocation } from './redirect-location.ts';
import { isRegisteredPostLogoutUri } from './redirect-uri.ts';
import { invalid, oneValue, type RawParameters, requireShort } from './request-parameters.ts';

/**
 * Names of the parameters of a logout request that are read (RP-Initiated Logout 1.0, section 2); others are
 * ignored.
 */
export const logoutParameters = [
  'id_token_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
] as const;

type LogoutParameter = (typeof logoutParameters)[number];

const maxBytes = { id_token_hint: 8192, state: 4096, ui_locales: 512 } as const;

/** An app's logout request after all checks. */
export interface LogoutRequest {
  /** Client that sent the logout request; `null` if the request does not name one. */
  readonly client: ClientRecord | null;
  /**
   * Id of the user whom the app wants to sign out; `null` if the request names no user, or does not prove it
   * with an ID token.
   */
  readonly sub: string | null;
  /**
   * URL to which the browser returns after the sign-out, including `state`; `null` shows a page of this
   * service instead.
   */
  readonly returnTo: string | null;
  readonly uiLocales: string | undefined;
  /** Parameters of the logout request as a query string. */
  readonly query: string;
}

/**
 * Reads and checks a logout request of an app. Changes nothing. @throws OAuthError if the request is invalid
 */
export async function readLogoutRequest(
  core: Core,
  parameters: RawParameters<LogoutParameter>,
): Promise<LogoutRequest> {
  const value = (name: LogoutParameter): string | undefined => oneValue(parameters, name);
  const query = new URLSearchParams();
  for (const name of logoutParameters) {
    const text = value(name);
    if (text !== undefined) query.set(name, text);
  }
  for (const name of Object.keys(maxBytes) as (keyof typeof maxBytes)[])
    requireShort(maxBytes, name, value(name));
  const [hint, redirectUri, state] = [
    value('id_token_hint'),
    value('post_logout_redirect_uri'),
    value('state'),
  ];
  const hinted = hint === undefined ? null : await readIdTokenHint(core, hint);
  const clientId = value('client_id') ?? hinted?.aud;
  if (hinted !== null && clientId !== hinted.aud)
    throw invalid('The id_token_hint was issued to another client than client_id names.');
  const client = clientId === undefined ? null : requireEnabled(await findClient(core, clientId));
  if (redirectUri !== undefined && client === null) {
    throw invalid(
      hint === undefined
        ? 'A post_logout_redirect_uri needs an id_token_hint or a client_id.'
        : 'The id_token_hint is not an ID token of this service.',
    );
  }
  return {
    client,
    sub: hinted?.sub ?? null,
    returnTo:
      redirectUri === undefined || client === null ? null : returnAddress(core, client, redirectUri, state),
    uiLocales: value('ui_locales'),
    query: query.toString(),
  };
}

/**
 * Checks that the client has registered the post-logout redirect URI, and adds `state` to it. @throws
 * OAuthError if it is not registered
 */
function returnAddress(
  { options }: Core,
  client: ClientRecord,
  uri: string,
  state: string | undefined,
): string {
  if (!isRegisteredPostLogoutUri(client, uri)) {
    options.logger.warn(
      { client: client.clientId, postLogoutRedirectUri: printableUrl(uri) },
      'a logout was refused: its post_logout_redirect_uri is not registered',
    );
    const description = 'The post_logout_redirect_uri is not registered for this client.';
    throw new OAuthError('redirect_uri_mismatch', description);
  }
  return state === undefined ? uri : redirectLocation(uri, { state }, ['state']);
}
