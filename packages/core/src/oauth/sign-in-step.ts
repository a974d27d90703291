import { decodeJwt } from 'jose/jwt/decode';
import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { Authentication } from '../ports/users.ts';
import { lacksEssentialClass, needsAnotherClass } from './authentication-context.ts';
import { acceptsUser } from './claims-parameter.ts';
import { isUncheckedWebsite } from './client.ts';
import type { InteractionError, PendingInteraction } from './engine/engine.ts';
import { loginUrl } from './host-login.ts';
import { interactionPageUrl } from './way-back.ts';

/**
 * Checks whether the user must sign in again (OpenID Connect Core, section 3.1.2.1). oidc-provider checked
 * the user who was signed in when the request began, and another user may have signed in since.
 */
export function needsFreshLogin(
  { params, reasons, start }: PendingInteraction,
  user: Authentication | null,
): boolean {
  if ((params.prompt ?? '').split(' ').includes('login') || reasons.includes('max_age')) return true;
  if (params.max_age === undefined) return false;
  return user === null || start.startedAt - user.authenticatedAt.getTime() > Number(params.max_age) * 1000;
}

/**
 * Longest time by which the host application's clock may be behind this service's clock, in milliseconds.
 * Used if nothing else shows that a sign-in is new.
 */
const behindMs = 60_000;

/**
 * Checks whether a user has signed in since the request began. The host application's clock may be behind. So
 * if the user was signed in at the start too, any later time of sign-in counts as new.
 */
function isNewSignIn({ start: { startedAt, signIn } }: PendingInteraction, user: Authentication): boolean {
  const at = user.authenticatedAt.getTime();
  if (at > startedAt) return true;
  if (signIn?.sub === user.sub) return at > signIn.at;
  return at > startedAt - behindMs;
}

/**
 * Returns the URL of the host application's sign-in page for an interaction.
 * @param reauthenticate - true if the user must sign in even if signed in already
 */
export function loginOf(
  core: Core,
  interaction: PendingInteraction,
  client: ClientRecord,
  reauthenticate: boolean,
): Promise<string> {
  const page = interactionPageUrl(core, interaction, 'interaction');
  const cancelUrl = interactionPageUrl(core, interaction, 'cancel');
  return loginUrl(core, page, reauthenticate, { ...interaction.params, client, cancelUrl });
}

/**
 * Logs a warning that the host application's clock is behind: a sign-in that is new seems to be older than
 * its authorization request.
 */
function logClockBehind(
  core: Core,
  { start: { startedAt, signIn } }: PendingInteraction,
  { sub, authenticatedAt }: Authentication,
  isFresh: boolean,
): void {
  const at = authenticatedAt.getTime();
  const isUnchanged = signIn?.sub === sub && signIn.at === at;
  if (at > startedAt || isUnchanged) return;
  const outcome = isFresh ? 'it counts as new' : 'it does not count as new';
  core.options.logger.warn(
    { behindMs: startedAt - at },
    `a sign-in has an authenticatedAt before the authorization request that asked for it: ${outcome}; is the clock of the host behind?`,
  );
}

/**
 * Ends an interaction with an error before the user was asked. Returns the URL to which the browser must go.
 * @throws OAuthError instead, which is shown as a page, if that URL is a website that no administrator has checked
 */
export async function endUnasked(
  interaction: PendingInteraction,
  client: ClientRecord,
  end: InteractionError,
): Promise<string> {
  if (isUncheckedWebsite(client, interaction.params.redirect_uri ?? ''))
    throw new OAuthError(end.error, end.description);
  return interaction.finish(end);
}

/**
 * Returns the URL to which the browser must go if the user's current sign-in does not suffice: that of the
 * host application's sign-in page, or one that ends the interaction with an error. `null` if the sign-in
 * suffices.
 */
export async function loginStep(
  core: Core,
  interaction: PendingInteraction,
  client: ClientRecord,
  user: Authentication,
): Promise<string | null> {
  const isFresh = isNewSignIn(interaction, user);
  const { id_token_hint } = interaction.params;
  // The engine verified the token at the start. Without its key it could not, but here `sub` only restricts
  // who may continue.
  const expected = id_token_hint === undefined ? user.sub : decodeJwt(id_token_hint).sub;
  const isExpected =
    (expected === undefined || expected === user.sub) && acceptsUser(interaction.params, user.sub);
  const needsFresh = needsFreshLogin(interaction, user) || needsAnotherClass(core, interaction.params, user);
  if (needsFresh) logClockBehind(core, interaction, user, isFresh);
  if (isExpected && isFresh && lacksEssentialClass(interaction.params, user)) {
    return endUnasked(interaction, client, {
      error: 'unmet_authentication_requirements',
      description: 'The sign-in has none of the requested authentication context classes.',
    });
  }
  if (isExpected && (isFresh || !needsFresh)) return null;
  if (!isFresh) return loginOf(core, interaction, client, true);
  // Another user than expected has just signed in: asking again would loop.
  return endUnasked(interaction, client, {
    error: 'login_required',
    description: 'Another user signed in than expected.',
  });
}
