import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { Core } from '../../context.ts';
import type { Authentication } from '../../ports/users.ts';
import { isAskedEveryTime } from '../client.ts';
import { consentState } from '../consent.ts';

const { Check, Prompt } = interactionPolicy;

/** The host's word on who is signed in, taken once per request. */
export type Visitor = (ctx: KoaContextWithOIDC) => Authentication | null;

function maxAgeExceeded(ctx: KoaContextWithOIDC, visitor: Authentication | null, now: number): boolean {
  const { max_age } = ctx.oidc.params ?? {};
  if (max_age === undefined || ctx.oidc.result?.login !== undefined) return false;
  const maxAge = Number(max_age);
  // `max_age=0` asks for a sign-in after the request, also where the host's clock is ahead.
  return visitor === null || maxAge === 0 || now - visitor.authenticatedAt.getTime() > maxAge * 1000;
}

/**
 * When the request began, to the millisecond; an interaction that follows another one keeps its time. Not before the
 * sign-in that is there already, which a host's clock that is ahead puts after the request.
 */
function requestStart(core: Core, visitor: Visitor): (ctx: KoaContextWithOIDC) => { startedAt: unknown } {
  return (ctx) => ({
    startedAt:
      ctx.oidc.entities.Interaction?.prompt.details.startedAt ??
      Math.max(core.clock.now(), visitor(ctx)?.authenticatedAt.getTime() ?? 0),
  });
}

/**
 * When the user has to sign in (OpenID Connect Core, section 3.1.2.3): nobody or somebody else is there, or
 * too long ago.
 */
function loginPrompt(core: Core, visitor: Visitor): interactionPolicy.Prompt {
  return new Prompt(
    { name: 'login', requestable: true },
    requestStart(core, visitor),
    new Check('signed_out', 'nobody is signed in', 'login_required', (ctx) => {
      return visitor(ctx)?.sub === undefined || visitor(ctx)?.sub !== ctx.oidc.session?.accountId;
    }),
    new Check('max_age', 'the last sign-in is too long ago', 'login_required', (ctx) =>
      maxAgeExceeded(ctx, visitor(ctx), core.clock.now()),
    ),
    new Check('id_token_hint', 'another user is signed in', 'login_required', (ctx) => {
      const expected = ctx.oidc.entities.IdTokenHint?.payload.sub;
      return expected !== undefined && expected !== visitor(ctx)?.sub;
    }),
  );
}

/** When the user has to be asked for consent. */
function consentPrompt(core: Core, visitor: Visitor): interactionPolicy.Prompt {
  return new Prompt(
    { name: 'consent', requestable: true },
    requestStart(core, visitor),
    new Check(
      'scopes_missing',
      'the user has not given this consent',
      'consent_required',
      async ({ oidc }) => {
        const { client, session, requestParamScopes } = oidc;
        const record = client ? await core.storage.clients.find(client.clientId) : null;
        if (record === null || !session?.accountId) return true;
        const asked = { client: record, sub: session.accountId, scopes: requestParamScopes };
        if (isAskedEveryTime(record) && oidc.result?.consent === undefined) return true;
        return !(await consentState(core, asked)).covered;
      },
    ),
  );
}

/** What stands between an authorization request and its code. */
export function createPolicy(core: Core, visitor: Visitor): interactionPolicy.Prompt[] {
  return [loginPrompt(core, visitor), consentPrompt(core, visitor)];
}
