import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { Core } from '../../options/context.ts';
import { lacksEssentialClass, needsAnotherClass } from '../authentication-context.ts';
import { acceptsUser } from '../claims-parameter.ts';
import { findClient, isAskedEveryTime } from '../client.ts';
import { consentedScopes } from '../consented.ts';
import { requestedInRun, visitor } from './adapter.ts';

const { Check, Prompt } = interactionPolicy;

function maxAgeExceeded(ctx: KoaContextWithOIDC, now: number): boolean {
  const { max_age } = ctx.oidc.params ?? {};
  if (max_age === undefined || ctx.oidc.result?.login !== undefined) return false;
  const maxAge = Number(max_age);
  const user = visitor();
  // `max_age=0` always requires a sign-in after the request, even if the host's clock is ahead.
  return user === null || maxAge === 0 || now - user.authenticatedAt.getTime() > maxAge * 1000;
}

/** Time at which an authorization request began, and the user's sign-in at that time. */
export type RequestStart = {
  /** Time at which the request began, in milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /**
   * The sign-in that the user had when the request began; `null` if no user was signed in. `at` is in
   * milliseconds since the Unix epoch.
   */
  readonly signIn: { readonly sub: string; readonly at: number } | null;
};

/**
 * Reads when an authorization request began, and with which sign-in, from the details in its stored
 * interaction.
 */
export function readRequestStart({ startedAt, signIn }: { readonly [name: string]: unknown }): RequestStart {
  const { sub, at }: { readonly sub?: unknown; readonly at?: unknown } = Object(signIn);
  return { startedAt: Number(startedAt), signIn: typeof sub === 'string' ? { sub, at: Number(at) } : null };
}

/**
 * Creates oidc-provider's prompts: conditions that an authorization request must meet before it gets a code.
 */
export function createPolicy(core: Core): interactionPolicy.Prompt[] {
  const { clock, storage } = core;
  /**
   * Returns when the authorization request began, to the millisecond, and which user was signed in then. An
   * interaction that follows another one of the same request keeps both. The time is never before the
   * sign-in, which may seem to be after the request if the host application's clock is ahead.
   */
  const requestStart = (ctx: KoaContextWithOIDC): RequestStart => {
    const earlier = ctx.oidc.entities.Interaction?.prompt.details;
    if (earlier !== undefined) return readRequestStart(earlier);
    const user = visitor();
    const signIn = user && { sub: user.sub, at: user.authenticatedAt.getTime() };
    return { startedAt: Math.max(clock.now(), signIn?.at ?? 0), signIn };
  };

  // Checks of OpenID Connect Core, section 3.1.2.3: no user is signed in, or another user, or the sign-in is
  // too old or has none of the requested authentication context classes.
  const login = new Prompt(
    { name: 'login', requestable: true },
    requestStart,
    new Check('signed_out', 'nobody is signed in', 'login_required', ({ oidc }) => {
      return visitor() === null || visitor()?.sub !== oidc.session?.accountId;
    }),
    new Check('max_age', 'the last sign-in is too long ago', 'login_required', (ctx) =>
      maxAgeExceeded(ctx, clock.now()),
    ),
    // A hint that is older than a year does not prove its user (`sub` is null). So a request with it always
    // starts an interaction, and fails with `prompt=none`.
    new Check('id_token_hint', 'another user is signed in', 'login_required', ({ oidc }) => {
      const expected = oidc.entities.IdTokenHint?.payload.sub;
      return expected !== undefined && expected !== visitor()?.sub;
    }),
    new Check('claims_sub', 'another user is signed in', 'login_required', ({ oidc }) => {
      const user = visitor();
      return user !== null && !acceptsUser(oidc.params ?? {}, user.sub);
    }),
    // For a class that is only preferred, the user is asked to sign in once.
    new Check('acr', 'the sign-in has no requested class', 'login_required', ({ oidc }) => {
      const { params = {}, result } = oidc;
      return result?.login === undefined
        ? needsAnotherClass(core, params, visitor())
        : lacksEssentialClass(params, visitor());
    }),
  );

  const consent = new Prompt(
    { name: 'consent', requestable: true },
    requestStart,
    new Check(
      'scopes_missing',
      'the user has not given this consent',
      'consent_required',
      async ({ oidc }) => {
        const { client, session, requestParamScopes, result, params } = oidc;
        const record = client ? await findClient(core, client.clientId) : null;
        if (record === null || !session?.accountId) return true;
        const isAsked = isAskedEveryTime(record, String(params?.redirect_uri));
        if (isAsked && result?.consent === undefined) return true;
        const consent = await storage.consents.find(session.accountId, record.clientId);
        const requested = { scopes: [...requestParamScopes], resources: requestedInRun() };
        return consentedScopes(core, record, consent, requested) === null;
      },
    ),
  );

  return [login, consent];
}
