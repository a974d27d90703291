import { createLocalJWKSet, jwtVerify } from 'jose';
import type { Core } from '../context.ts';
import { OAuthError } from '../errors.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { printableUrl } from '../printable.ts';
import { requireClient } from './client.ts';
import { issuerOf } from './endpoints.ts';
import { isRegisteredPostLogoutUri } from './redirect-uri.ts';
import { invalid, oneValue, type RawParameters, requireShort } from './request-parameters.ts';

/** Parameters of RP-Initiated Logout 1.0, section 2; others are ignored. */
export const logoutParameters = [
  'id_token_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
] as const;

type LogoutParameter = (typeof logoutParameters)[number];

const maxBytes = { id_token_hint: 8192, state: 4096, ui_locales: 512 } as const;

/** What an app wants when it sends its user here. */
export interface LogoutRequest {
  /** Who asks; `null` where nobody says so. */
  readonly client: ClientRecord | null;
  /** Whom the app means; `null` where it does not say, or could not prove it. */
  readonly sub: string | null;
  /** Where the browser goes then, `state` included; `null`: it stays here. */
  readonly returnTo: string | null;
  readonly uiLocales: string | undefined;
  /** The parameters, as a query string. */
  readonly query: string;
}

/** What one of our ID tokens says, also after it has expired; `null` for what proves nothing (any more). */
async function readHint(core: Core, token: string): Promise<{ sub: string; aud: string } | null> {
  const keys = (await core.signingKeys.current()).published(core.clock.now());
  const keySet = createLocalJWKSet({ keys: keys.map(({ publicJwk }) => publicJwk) });
  const expected = { typ: 'JWT', issuer: issuerOf(core.options), currentDate: new Date(0) };
  try {
    const { sub, aud } = (await jwtVerify(token, keySet, expected)).payload;
    return typeof sub === 'string' && typeof aud === 'string' ? { sub, aud } : null;
  } catch {
    // A token of somebody else's, or no token at all.
    return null;
  }
}

/** Reads and checks a request to sign a user out; nothing has happened when this throws. @throws OAuthError */
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
  const hinted = hint === undefined ? null : await readHint(core, hint);
  const clientId = value('client_id') ?? hinted?.aud;
  if (hinted !== null && clientId !== hinted.aud)
    throw invalid('The id_token_hint was issued to another client than client_id names.');
  const client = clientId === undefined ? null : await requireClient(core.storage.clients, clientId);
  return {
    client,
    sub: hinted?.sub ?? null,
    returnTo: redirectUri === undefined ? null : returnAddress(core, client, redirectUri, state),
    uiLocales: value('ui_locales'),
    query: query.toString(),
  };
}

/** Checks that the client has registered the address. @throws OAuthError */
function returnAddress(
  { options }: Core,
  client: ClientRecord | null,
  uri: string,
  state: string | undefined,
): string {
  if (client === null) throw invalid('A post_logout_redirect_uri needs an id_token_hint or a client_id.');
  if (!isRegisteredPostLogoutUri(client, uri)) {
    options.logger.warn(
      { client: client.clientId, postLogoutRedirectUri: printableUrl(uri) },
      'a logout was refused: its post_logout_redirect_uri is not registered',
    );
    const description = 'The post_logout_redirect_uri is not registered for this client.';
    throw new OAuthError('redirect_uri_mismatch', description);
  }
  const url = new URL(uri);
  if (state === undefined) return uri;
  url.searchParams.set('state', state);
  return url.href;
}
