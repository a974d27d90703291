import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import type { Core } from '../context.ts';
import { OAuthError } from '../errors.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { Authentication, UserRecord } from '../ports/users.ts';
import { isEnabled, requireStillAllowed } from './client.ts';
import { consentState } from './consent.ts';
import { interactionPage } from './endpoints.ts';
import type { Engine, PendingInteraction } from './engine/engine.ts';
import { authenticate, loginUrl } from './host-login.ts';
import { findUser } from './user.ts';
import { userinfoOf } from './userinfo.ts';

/** A scope that the user is asked about. */
export interface AskedScope {
  readonly name: string;
  /** Not approved for this client before. */
  readonly isNew: boolean;
}

/** What the user is asked. */
export interface Question {
  readonly interaction: PendingInteraction;
  readonly client: ClientRecord;
  readonly user: UserRecord;
  readonly scopes: readonly AskedScope[];
  /** Proves that an answer comes from the page that showed this question to this user. */
  readonly csrfToken: string;
  /** Where the user can sign in as somebody else. */
  readonly switchAccountUrl: string;
}

/** What has to happen next on the interaction page. */
export type NextStep = { readonly redirectTo: string } | { readonly ask: Question };

/**
 * Whether the user has to sign in anew (OpenID Connect Core, section 3.1.2.1). The engine judged the one who
 * started the request; somebody else may have come in since.
 */
function needsFreshLogin(
  { params, reasons, startedAt }: PendingInteraction,
  user: Authentication | null,
): boolean {
  if ((params.prompt ?? '').split(' ').includes('login') || reasons.includes('max_age')) return true;
  if (params.max_age === undefined) return false;
  return user === null || startedAt - user.authenticatedAt.getTime() > Number(params.max_age) * 1000;
}

/** The user that an `id_token_hint` names; the engine has verified the token when the request came in. */
function hintedUser(interaction: PendingInteraction): string | undefined {
  const hint = interaction.params.id_token_hint;
  return hint === undefined ? undefined : decodeJwt(hint).sub;
}

/** The steps of an authorization request that the user takes: signing in at the host, then consent. */
export interface Interactions {
  /** What the browser that holds this interaction has to do next. */
  next(request: IncomingMessage, response: ServerResponse, id: string | null): Promise<NextStep>;
  /**
   * Takes the user's answer and says where the browser has to go.
   * @throws OAuthError when the answer does not come from the page that asked this user
   */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    id: string | null,
    answer: ConsentAnswer,
  ): Promise<string>;
}

/** What a consent page sends back. */
export interface ConsentAnswer {
  readonly approved: boolean;
  readonly csrfToken: string | undefined;
}

/** Where the host signs the user in for an interaction. */
function loginOf(core: Core, interaction: PendingInteraction, reauthenticate: boolean): Promise<string> {
  return loginUrl(core, interactionPage(core.options, interaction.id), {
    reauthenticate,
    loginHint: interaction.params.login_hint,
    uiLocales: interaction.params.ui_locales,
  });
}

/** Where the user has to sign in first, `null` when the sign-in at the host will do. */
async function loginStep(
  core: Core,
  interaction: PendingInteraction,
  user: Authentication | null,
): Promise<string | null> {
  const fresh = needsFreshLogin(interaction, user);
  if (user === null) return loginOf(core, interaction, fresh);
  const isFresh = user.authenticatedAt.getTime() > interaction.startedAt;
  if (fresh && !isFresh) return loginOf(core, interaction, true);
  const expected = hintedUser(interaction);
  if (expected === undefined || expected === user.sub) return null;
  if (!isFresh) return loginOf(core, interaction, true);
  // Somebody signed in just now, and it is not the one that the client expects: asking again would go in
  // circles.
  return interaction.finish({
    error: 'login_required',
    description: 'Another user signed in than expected.',
  });
}

const scopesOf = (interaction: PendingInteraction): string[] => (interaction.params.scope ?? '').split(' ');

/** The client of an interaction, which may have been changed since it began. @throws OAuthError */
async function clientOf(core: Core, interaction: PendingInteraction): Promise<ClientRecord> {
  const client = await core.storage.clients.find(interaction.params.client_id ?? '');
  if (!isEnabled(client)) throw new OAuthError('invalid_client', 'The client is not known.');
  requireStillAllowed(client, interaction.params.redirect_uri, scopesOf(interaction));
  return client;
}

/**
 * Who would give the consent, `null` when the host does not know the user. Whatever userinfo could not show is told
 * now, and not after the user has agreed.
 * @throws UserRecordError
 */
async function findAsked(core: Core, sub: string, scopes: readonly string[]): Promise<UserRecord | null> {
  const user = await findUser(core, sub, [...scopes, 'profile']);
  if (user !== null) userinfoOf(user, scopes);
  return user;
}

const purpose = (interaction: PendingInteraction, user: Authentication): FormPurpose => [
  'consent',
  interaction.id,
  user.sub,
];

/** An interaction whose user is signed in as the request demands. */
interface Begun {
  readonly interaction: PendingInteraction;
  readonly client: ClientRecord;
  readonly user: Authentication;
}

/** See {@link Interactions}. */
export function createInteractions(core: Core, engine: Engine, forms: Forms): Interactions {
  /** Who answers which interaction, or where the user has to sign in first. */
  async function begin(
    request: IncomingMessage,
    response: ServerResponse,
    id: string | null,
  ): Promise<Begun | { readonly redirectTo: string }> {
    const interaction = await engine.interaction(request, response, id);
    const client = await clientOf(core, interaction);
    const user = await authenticate(core, request);
    const redirectTo = await loginStep(core, interaction, user);
    if (redirectTo === null && user !== null) return { interaction, client, user };
    return { redirectTo: redirectTo ?? (await loginOf(core, interaction, false)) };
  }

  return {
    async next(request, response, id) {
      const begun = await begin(request, response, id);
      if ('redirectTo' in begun) return begun;
      const { interaction, client, user } = begun;
      // It was begun before anybody had signed in, and gets the longer life of one whose user is there.
      if (interaction.reasons.includes('signed_out')) await interaction.keep();

      const scopes = scopesOf(interaction);
      const { covered, askAnyway, remembered } = await consentState(core, { client, sub: user.sub, scopes });
      const prompted = (interaction.params.prompt ?? '').split(' ').includes('consent');
      if (covered && !askAnyway && !prompted)
        return { redirectTo: await interaction.finish({ user, consented: false }) };
      const record = await findAsked(core, user.sub, scopes);
      if (record === null) {
        core.options.logger.warn(
          { client: client.clientId },
          'a user was refused: users.find does not know the sub that login.authenticate names',
        );
        const refusal = { error: 'access_denied', description: 'The user has no access.' } as const;
        return { redirectTo: await interaction.finish(refusal) };
      }
      return {
        ask: {
          interaction,
          client,
          user: record,
          scopes: scopes.map((name) => ({ name, isNew: !remembered.has(name) })),
          csrfToken: forms.issue(purpose(interaction, user)),
          switchAccountUrl: await loginOf(core, interaction, true),
        },
      };
    },

    async answer(request, response, id, { approved, csrfToken }) {
      const begun = await begin(request, response, id);
      if ('redirectTo' in begun) return begun.redirectTo;
      const { interaction, client, user } = begun;
      // Another user than the one who was asked has no valid token.
      forms.check(csrfToken, purpose(interaction, user));
      if (!approved) {
        return interaction.finish({ error: 'access_denied', description: 'The user denied the request.' });
      }
      const consent = {
        sub: user.sub,
        clientId: client.clientId,
        scopes: scopesOf(interaction),
        now: core.clock.now(),
      };
      if (!(await core.storage.consents.remember(consent))) {
        throw new OAuthError('invalid_client', 'The client is not known.');
      }
      return interaction.finish({ user, consented: true });
    },
  };
}
