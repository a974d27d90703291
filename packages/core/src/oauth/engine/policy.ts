import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { Core } from '../../options/context.ts';
import { isAskedEveryTime } from '../client.ts';
import { isConsented } from '../user.ts';
import { visitor } from './adapter.ts';

const { Check, Prompt } = interactionPolicy;

function maxAgeExceeded(ctx: KoaContextWithOIDC, now: number): boolean {
  const { max_age } = ctx.oidc.params ?? {};
  if (max_age === undefined || ctx.oidc.result?.login !== undefined) return false;
  const maxAge = Number(max_age);
  const user = visitor();
  // `max_age=0` asks for a sign-in after the request, also where the host's clock is ahead.
  return user === null || maxAge === 0 || now - user.authenticatedAt.getTime() > maxAge * 1000;
}

/** The moment in which an authorization request began. */
export type RequestStart = {
  /** In milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /**
   * The sign-in at the start; `null` if no user was signed in. `at` is in milliseconds since the Unix epoch.
   */
  readonly signIn: { readonly sub: string; readonly at: number } | null;
};

/** Reads the start of a request from the details of a stored interaction. */
export function readRequestStart({ startedAt, signIn }: { readonly [name: string]: unknown }): RequestStart {
  const { sub, at }: { readonly sub?: unknown; readonly at?: unknown } = Object(signIn);
  return { startedAt: Number(startedAt), signIn: typeof sub === 'string' ? { sub, at: Number(at) } : null };
}

/** Prompts of an authorization request: the conditions that it must meet before it gets a code. */
export function createPolicy({ clock, storage }: Core): interactionPolicy.Prompt[] {
  /**
   * Notes when the request began, to the millisecond, and who was signed in then; an interaction that follows another one
   * keeps both. The time is not before the sign-in, which a host's clock that is ahead puts after the request.
   */
  const requestStart = (ctx: KoaContextWithOIDC): RequestStart => {
    const earlier = ctx.oidc.entities.Interaction?.prompt.details;
    if (earlier !== undefined) return readRequestStart(earlier);
    const user = visitor();
    const signIn = user && { sub: user.sub, at: user.authenticatedAt.getTime() };
    return { startedAt: Math.max(clock.now(), signIn?.at ?? 0), signIn };
  };

  // OpenID Connect Core, section 3.1.2.3: no user is signed in, or another user, or the sign-in is too old.
  const login = new Prompt(
    { name: 'login', requestable: true },
    requestStart,
    new Check('signed_out', 'nobody is signed in', 'login_required', ({ oidc }) => {
      return visitor() === null || visitor()?.sub !== oidc.session?.accountId;
    }),
    new Check('max_age', 'the last sign-in is too long ago', 'login_required', (ctx) =>
      maxAgeExceeded(ctx, clock.now()),
    ),
    // A hint whose key is no longer kept proves no user: nothing is answered without asking.
    new Check('id_token_hint', 'another user is signed in', 'login_required', ({ oidc }) => {
      const expected = oidc.entities.IdTokenHint?.payload.sub;
      return expected !== undefined && expected !== visitor()?.sub;
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
        const record = client ? await storage.clients.find(client.clientId) : null;
        if (record === null || !session?.accountId) return true;
        const isAsked = isAskedEveryTime(record, String(params?.redirect_uri));
        if (isAsked && result?.consent === undefined) return true;
        return !(await isConsented(storage, session.accountId, record.clientId, requestParamScopes));
      },
    ),
  );

  return [login, consent];
}
