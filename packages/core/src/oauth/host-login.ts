import type { IncomingMessage } from 'node:http';
import type { Core } from '../options/context.ts';
import type { Authentication, LoginRequest } from '../ports/users.ts';
import { contextClassWords, isContextClass } from '../scopes/context-classes.ts';
import { userIdFormat, userIdWords } from '../scopes/user-ids.ts';
import { digest } from '../secrets/tokens.ts';
import { requestedClasses } from './authentication-context.ts';

/** Thrown if a `login` function of the host application broke its contract, which is a bug of the host. */
export class LoginError extends TypeError {
  override readonly name = 'LoginError';
}

/**
 * Maximum time by which the host application's clock may be ahead of this service's clock, in milliseconds.
 */
const aheadMs = 60_000;

/** Maximum number of authentication methods of a sign-in. */
const maxMethods = 16;

export async function authenticate(core: Core, request: IncomingMessage): Promise<Authentication | null> {
  const answer = await core.options.login.authenticate(request);
  if (answer === null) return null;
  if (typeof answer !== 'object') throw new LoginError('login.authenticate: must return a sign-in or null');
  const { sub, authenticatedAt, sessionId } = answer;
  if (typeof sub !== 'string' || !userIdFormat.test(sub)) {
    throw new LoginError(`login.authenticate: sub ${userIdWords}`);
  }
  if (!(authenticatedAt instanceof Date) || Number.isNaN(authenticatedAt.getTime())) {
    throw new LoginError('login.authenticate: authenticatedAt has to be a valid Date');
  }
  // A sign-in time in the future would count as a new sign-in until that time.
  if (authenticatedAt.getTime() > core.clock.now() + aheadMs) {
    throw new LoginError(
      'login.authenticate: authenticatedAt is more than a minute in the future; it has to be the time of the sign-in, by a clock that is right',
    );
  }
  const signIn = { sub, authenticatedAt, ...contextOf(answer) };
  if (sessionId === undefined) return signIn;
  if (typeof sessionId !== 'string' || sessionId.length < 1 || sessionId.length > 255)
    throw new LoginError('login.authenticate: sessionId has to be a string of 1 to 255 characters');
  return { ...signIn, sessionId };
}

/**
 * Returns the `acr` and `amr` that `login.authenticate` returned. @throws LoginError if one of them is
 * malformed
 */
function contextOf({ acr, amr }: Authentication): Pick<Authentication, 'acr' | 'amr'> {
  if (acr !== undefined && !isContextClass(acr))
    throw new LoginError(`login.authenticate: acr ${contextClassWords}`);
  const isList = Array.isArray(amr) && amr.length >= 1 && amr.length <= maxMethods;
  if (amr !== undefined && !(isList && amr.every(isContextClass)))
    throw new LoginError(
      `login.authenticate: amr has to be a list of 1 to ${maxMethods} texts; each ${contextClassWords}`,
    );
  return { ...(acr !== undefined && { acr }), ...(amr !== undefined && { amr: [...amr] }) };
}

/**
 * Returns the session id (`sid`) of a sign-in for apps (OpenID Connect Back-Channel Logout 1.0, section 2.1):
 * a hash of the user and the host application's session id, or of the user and the second of the sign-in if
 * the host gives none.
 */
export function sessionIdOf({ sub, authenticatedAt, sessionId }: Authentication): string {
  // Whole seconds, because ID tokens contain the time of a sign-in in seconds.
  const seconds = Math.floor(authenticatedAt.getTime() / 1000);
  const source = sessionId === undefined ? ['sign-in', sub, seconds] : ['session', sub, sessionId];
  return digest(JSON.stringify(source)).toString('base64url');
}

export async function loginUrl(
  core: Core,
  returnTo: string,
  reauthenticate: boolean,
  {
    login_hint: loginHint,
    ui_locales,
    client,
    cancelUrl,
    ...parameters
  }: {
    readonly [name in 'login_hint' | 'ui_locales' | 'acr_values' | 'claims']?: string | undefined;
  } & Pick<LoginRequest, 'client' | 'cancelUrl'> = {},
): Promise<string> {
  const acrValues = requestedClasses(parameters);
  const url = await core.options.login.loginUrl(returnTo, {
    reauthenticate,
    ...(client !== undefined && { client: { clientId: client.clientId, name: client.name } }),
    ...(cancelUrl !== undefined && { cancelUrl }),
    ...(loginHint !== undefined && { loginHint }),
    ...(ui_locales !== undefined && { uiLocales: ui_locales.split(' ').filter(Boolean) }),
    ...(acrValues.length > 0 && { acrValues }),
  });
  if (typeof url !== 'string' || !URL.canParse(url, core.options.authUrl.href)) {
    throw new LoginError('login.loginUrl: must return a URL');
  }
  const absolute = new URL(url, core.options.authUrl);
  if (absolute.protocol !== 'https:' && absolute.protocol !== 'http:') {
    throw new LoginError('login.loginUrl: must return an http or https URL');
  }
  return absolute.href;
}
