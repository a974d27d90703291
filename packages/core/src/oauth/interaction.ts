import { decodeJwt } from 'jose';
import { OAuthError } from '../errors.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { Authentication, UserRecord } from '../ports/users.ts';
import {
  isAskedEveryTime,
  isEnabled,
  isUnknownRequest,
  requireStillAllowed,
  unknownRequest,
} from './client.ts';
import type { Decision, GivenAnswer } from './engine/answers.ts';
import type { Engine, Exchange, PendingInteraction } from './engine/engine.ts';
import { authenticate, loginUrl } from './host-login.ts';
import { findUser } from './user.ts';
import { userinfoOf } from './userinfo.ts';
import { interactionPageUrl } from './way-back.ts';

export interface Question {
  readonly interaction: PendingInteraction;
  readonly client: ClientRecord;
  readonly user: UserRecord;
  /** `isNew`: not approved for this client before. */
  readonly scopes: readonly { readonly name: string; readonly isNew: boolean }[];
  /** Token that proves that an answer comes from the page that showed this question to this user. */
  readonly csrfToken: string;
  /** URL where the user can sign in as someone else. */
  readonly switchAccountUrl: string;
}

/**
 * True if the user must sign in anew (OpenID Connect Core, section 3.1.2.1). The engine judged the user who
 * started the request, and another one may have signed in since.
 */
function needsFreshLogin(
  { params, reasons, start }: PendingInteraction,
  user: Authentication | null,
): boolean {
  if ((params.prompt ?? '').split(' ').includes('login') || reasons.includes('max_age')) return true;
  if (params.max_age === undefined) return false;
  return user === null || start.startedAt - user.authenticatedAt.getTime() > Number(params.max_age) * 1000;
}

/**
 * Maximum time by which the host's clock may be behind, in milliseconds. It applies if nothing else shows
 * that a sign-in is new.
 */
const behindMs = 60_000;

/**
 * Checks whether a user has signed in since the request began. The host's clock may be behind, so a later
 * sign-in of the user who was there at the start is new with any time.
 */
function isNewSignIn({ start: { startedAt, signIn } }: PendingInteraction, user: Authentication): boolean {
  const at = user.authenticatedAt.getTime();
  if (at > startedAt) return true;
  if (signIn?.sub === user.sub) return at > signIn.at;
  return at > startedAt - behindMs;
}

function loginOf(
  core: Core,
  interaction: PendingInteraction,
  client: ClientRecord,
  reauthenticate: boolean,
): Promise<string> {
  const page = interactionPageUrl(core, interaction, 'interaction');
  const cancelUrl = interactionPageUrl(core, interaction, 'cancel');
  return loginUrl(core, page, reauthenticate, { ...interaction.params, client, cancelUrl });
}

/** Says in the log that a sign-in which is new, or could be, lies before its request by the host's clock. */
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

/** Returns the URL for the sign-in, or `null` if the present sign-in suffices. */
async function loginStep(
  core: Core,
  interaction: PendingInteraction,
  client: ClientRecord,
  user: Authentication,
): Promise<string | null> {
  const isFresh = isNewSignIn(interaction, user);
  const { id_token_hint } = interaction.params;
  // The engine has read the token when the request came in. Whether its key is still kept or not: it only says who may go on.
  const expected = id_token_hint === undefined ? user.sub : decodeJwt(id_token_hint).sub;
  const isExpected = expected === undefined || expected === user.sub;
  const needsFresh = needsFreshLogin(interaction, user);
  if (needsFresh) logClockBehind(core, interaction, user, isFresh);
  if (isExpected && (isFresh || !needsFresh)) return null;
  if (!isFresh) return loginOf(core, interaction, client, true);
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
  requireStillAllowed(client, interaction.params.redirect_uri ?? '', scopesOf(interaction));
  return client;
}

/**
 * Returns the user who would give the consent, or `null` if the host does not know the user. Reports values
 * that userinfo could not show now, and not after the user has agreed.
 * @throws UserRecordError
 */
async function findAsked(core: Core, sub: string, scopes: readonly string[]): Promise<UserRecord | null> {
  const user = await findUser(core, sub, [...scopes, 'profile']);
  if (user !== null) userinfoOf(core, user, scopes);
  return user;
}

const purpose = ({ id }: { readonly id: string }): FormPurpose => ['consent', id];

/** Answer of the user on a consent page. */
interface ConsentForm {
  readonly approved: boolean;
  readonly csrfToken: string | undefined;
}

export type Interactions = ReturnType<typeof createInteractions>;

/**
 * Finds the answer to an interaction that this browser and user have ended with the same step within a minute.
 * @throws OAuthError when there is none
 */
async function repeatable(
  core: Core,
  engine: Engine,
  exchange: Exchange,
  id: string | null,
  decision: Decision,
): Promise<GivenAnswer & { readonly id: string }> {
  const answer = await engine.answered(exchange, id);
  const user = await authenticate(core, exchange.req);
  if (answer?.decision !== decision || answer.sub !== (user?.sub ?? null)) throw unknownRequest();
  return answer;
}

/** The steps of an authorization request that the user takes: signing in at the host, then consent. */
export function createInteractions(core: Core, engine: Engine, forms: Forms) {
  /** Returns the user and the interaction that the browser may answer, or the URL of the sign-in. */
  async function begin(exchange: Exchange, id: string | null) {
    const interaction = await engine.interaction(exchange, id);
    const client = await clientOf(core, interaction);
    const user = await authenticate(core, exchange.req);
    if (user === null) return loginOf(core, interaction, client, needsFreshLogin(interaction, null));
    return (await loginStep(core, interaction, client, user)) ?? { interaction, client, user };
  }

  /** The interaction of this browser, and its client. Changes nothing. @throws OAuthError */
  async function current(exchange: Exchange, id: string) {
    const interaction = await engine.interaction(exchange, id);
    return { interaction, client: await clientOf(core, interaction) };
  }

  /**
   * Takes the answer of the user to a pending interaction. If another user has signed in since the question was shown, asks that
   * user instead.
   */
  async function decide(
    exchange: Exchange,
    id: string | null,
    { approved, csrfToken }: ConsentForm,
  ): Promise<string> {
    const begun = await begin(exchange, id);
    if (typeof begun === 'string') return begun;
    const { interaction, client, user } = begun;
    if (!forms.isShownTo(user.sub, csrfToken, purpose(interaction)))
      return interactionPageUrl(core, interaction, 'interaction');
    if (!approved) {
      return interaction.finish(
        { error: 'access_denied', description: 'The user denied the request.' },
        'deny',
      );
    }
    const { clientId } = client;
    const consent = { sub: user.sub, clientId, scopes: scopesOf(interaction), now: core.clock.now() };
    if (!(await core.storage.consents.remember(consent))) {
      throw new OAuthError('invalid_client', 'The client is not known.');
    }
    return interaction.finish({ user, consented: true }, 'approve');
  }

  return {
    /** Decides the next step for the browser of this interaction: a redirect, or a question to the user. */
    async next(exchange: Exchange, id: string | null): Promise<string | Question> {
      const begun = await begin(exchange, id);
      if (typeof begun === 'string') return begun;
      const { interaction, client, user } = begun;
      // The interaction began before a user had signed in. It now gets the longer life of one with a user.
      if (interaction.reasons.includes('signed_out')) await interaction.keep();

      const consent = await core.storage.consents.find(user.sub, client.clientId);
      const scopes = scopesOf(interaction).map((name) => ({ name, isNew: !consent?.scopes.includes(name) }));
      const isPrompted = (interaction.params.prompt ?? '').split(' ').includes('consent');
      const isAsked = isPrompted || isAskedEveryTime(client, interaction.params.redirect_uri ?? '');
      if (!isAsked && !scopes.some(({ isNew }) => isNew))
        return interaction.finish({ user, consented: false });
      const record = await findAsked(core, user.sub, scopesOf(interaction));
      if (record === null) {
        core.options.logger.warn(
          { client: client.clientId },
          'a user was refused: users.find does not know the sub that login.authenticate names',
        );
        return interaction.finish({ error: 'access_denied', description: 'The user has no access.' });
      }
      const csrfToken = forms.issueTo(user.sub, purpose(interaction));
      const switchAccountUrl = await loginOf(core, interaction, client, true);
      return { interaction, client, user: record, scopes, csrfToken, switchAccountUrl };
    },

    /**
     * Takes the answer of the user. An answer that is given again within a minute gets what the first one got.
     * @returns the address to which the browser goes
     * @throws OAuthError when the answer is not from a page of this interaction, or the interaction is over
     */
    async answer(exchange: Exchange, id: string | null, form: ConsentForm): Promise<string> {
      try {
        return await decide(exchange, id, form);
      } catch (error) {
        if (!isUnknownRequest(error)) throw error;
        const answer = await repeatable(core, engine, exchange, id, form.approved ? 'approve' : 'deny');
        if (!forms.isShownTo(answer.sub ?? '', form.csrfToken, purpose(answer))) throw error;
        return answer.location;
      }
    },

    current,

    /** Ends an interaction whose user does not sign in. @returns the address to which the browser goes. @throws OAuthError */
    async cancel(exchange: Exchange, id: string): Promise<string> {
      try {
        const { interaction } = await current(exchange, id);
        const description = 'The user did not sign in.';
        return await interaction.finish({ error: 'access_denied', description }, 'cancel');
      } catch (error) {
        if (!isUnknownRequest(error)) throw error;
        return (await repeatable(core, engine, exchange, id, 'cancel')).location;
      }
    },
  };
}
