import { OAuthError } from '../errors.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { ConsentRecord } from '../ports/grants.ts';
import type { Authentication, UserRecord } from '../ports/users.ts';
import { findUser } from '../scopes/user-record.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import {
  findClient,
  isAskedEveryTime,
  isUnknownRequest,
  requireEnabled,
  requireStillAllowed,
  unknownRequest,
} from './client.ts';
import { connectedJobs } from './connected-notice.ts';
import { consentedScopes, decisionOn, isOptional, namesToStore, type Requested } from './consented.ts';
import type { Decision, GivenAnswer } from './engine/answers.ts';
import type { Engine, Exchange, PendingInteraction } from './engine/engine.ts';
import { authenticate } from './host-login.ts';
import { endUnasked, loginOf, loginStep, needsFreshLogin } from './sign-in-step.ts';
import { userinfoOf } from './userinfo.ts';
import { interactionPageUrl } from './way-back.ts';

export interface Question {
  readonly interaction: PendingInteraction;
  readonly client: ClientRecord;
  readonly user: UserRecord;
  /**
   * Requested scopes. `isNew` is true if the user has not approved the scope for this client and these
   * resources before, `isOptional` if the user may leave it out, and `isDeclined` if the user left it out
   * before.
   */
  readonly scopes: readonly {
    readonly name: string;
    readonly isNew: boolean;
    readonly isOptional: boolean;
    readonly isDeclined: boolean;
  }[];
  /** URIs of the requested resources. */
  readonly resources: readonly string[];
  /** Name of the partner that owns the client; `null` if none does. */
  readonly partnerName: string | null;
  /**
   * Form token (CSRF token), which proves that a decision comes from the consent page that this user was
   * shown for this interaction.
   */
  readonly csrfToken: string;
  /** URL at which the user can sign in as someone else. */
  readonly switchAccountUrl: string;
}

const scopesOf = (interaction: PendingInteraction): string[] => (interaction.params.scope ?? '').split(' ');

const requestedBy = (interaction: PendingInteraction): Requested => ({
  scopes: scopesOf(interaction),
  resources: spaceSeparated(interaction.params.resources ?? ''),
});

/** Returns the requested scopes with what the consent page shows about each of them. */
function askedScopes(
  core: Core,
  requested: Requested,
  client: ClientRecord,
  consent: ConsentRecord | null,
): Question['scopes'] {
  return requested.scopes.map((name) => {
    const decision = decisionOn(core, consent, name, requested);
    return {
      name,
      isNew: decision !== 'approved',
      isOptional: isOptional(client, name),
      isDeclined: decision === 'declined',
    };
  });
}

/**
 * Returns the client of an interaction, whose settings may have been changed since the interaction began.
 * @throws OAuthError if the client is no longer allowed to make the request
 */
async function clientOf(core: Core, interaction: PendingInteraction): Promise<ClientRecord> {
  const client = requireEnabled(await findClient(core, interaction.params.client_id ?? ''));
  requireStillAllowed(client, interaction.params.redirect_uri ?? '', scopesOf(interaction));
  return client;
}

/**
 * Returns the user who is asked for consent; `null` if the host application does not find the user. Checks
 * the data that userinfo will return, so that an error is reported before the user consents and not
 * afterwards.
 * @throws UserRecordError if a value of the host's record is invalid
 */
async function findAsked(core: Core, sub: string, scopes: readonly string[]): Promise<UserRecord | null> {
  const user = await findUser(core.options.users, sub, [...scopes, 'profile']);
  if (user !== null) userinfoOf(core, user, scopes);
  return user;
}

const purpose = ({ id }: { readonly id: string }): FormPurpose => ['consent', id];

/** Returns the data of the consent page for an interaction and its user; `null` if the host finds no such user. */
async function questionTo(
  core: Core,
  forms: Forms,
  user: Authentication,
  interaction: PendingInteraction,
  client: ClientRecord,
  consent: ConsentRecord | null,
): Promise<Question | null> {
  const requested = requestedBy(interaction);
  const record = await findAsked(core, user.sub, requested.scopes);
  if (record === null) return null;
  const partner = client.partner === null ? null : await core.storage.partners.find(client.partner);
  return {
    ...{ interaction, client, user: record },
    scopes: askedScopes(core, requested, client, consent),
    resources: requested.resources,
    partnerName: partner?.name ?? null,
    csrfToken: forms.issueTo(user.sub, purpose(interaction)),
    switchAccountUrl: await loginOf(core, interaction, client, true),
  };
}

/** Decision of the user, from the form of a consent page. */
interface ConsentForm {
  readonly approved: boolean;
  /** Optional scopes that the user left out. */
  readonly declined: readonly string[];
  readonly csrfToken: string | undefined;
}

/**
 * Stores the user's approval and ends the interaction. Shows the consent page again if a scope that the user
 * left out is not optional (any more). If no scope is left, stores nothing: the app gets `access_denied`.
 * @returns the URL to which the browser must go
 */
async function approve(
  core: Core,
  user: Authentication,
  interaction: PendingInteraction,
  client: ClientRecord,
  declined: readonly string[],
): Promise<string> {
  const { scopes: requested, resources } = requestedBy(interaction);
  if (!declined.every((name) => requested.includes(name) && isOptional(client, name)))
    return interactionPageUrl(core, interaction, 'interaction');
  if (requested.every((name) => declined.includes(name))) {
    return interaction.finish(
      { error: 'access_denied', description: 'The user left out every scope.' },
      'approve',
    );
  }
  const approved = requested.filter((name) => !declined.includes(name));
  const { sub } = user;
  const now = core.clock.now();
  const jobs = await connectedJobs(core, client, { sub, scopes: [...approved, ...resources], now });
  const names = namesToStore(core, { approved, declined, resources });
  const consent = { sub, clientId: client.clientId, ...names, jobs, now };
  if (!(await core.storage.consents.remember(consent)))
    throw new OAuthError('invalid_client', 'The client is not known.');
  if (jobs.length > 0) core.notifyWorkers('jobs');
  return interaction.finish({ user, consented: true }, 'approve');
}

export type Interactions = ReturnType<typeof createInteractions>;

/**
 * Finds the response to an interaction that this browser and user ended with the same decision less than a
 * minute ago, so that a repeated form gets the same response.
 * @throws OAuthError if there is no such response
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

/**
 * Creates the steps of an authorization request that involve the user: the sign-in at the host application,
 * then consent.
 */
export function createInteractions(core: Core, engine: Engine, forms: Forms) {
  /**
   * Returns the interaction that the browser's cookie names, with its client and the signed-in user; or the
   * URL to which the browser must go instead, such as that of the sign-in page.
   */
  async function begin(exchange: Exchange, id: string | null) {
    const interaction = await engine.interaction(exchange, id);
    const client = await clientOf(core, interaction);
    const user = await authenticate(core, exchange.req);
    if (user === null) return loginOf(core, interaction, client, needsFreshLogin(interaction, null));
    return (await loginStep(core, interaction, client, user)) ?? { interaction, client, user };
  }

  /**
   * Returns this browser's interaction and its client. Changes nothing. @throws OAuthError if the browser has
   * no interaction
   */
  async function current(exchange: Exchange, id: string) {
    const interaction = await engine.interaction(exchange, id);
    return { interaction, client: await clientOf(core, interaction) };
  }

  /**
   * Applies the user's decision to an interaction. If another user has signed in since the consent page was
   * shown, asks that user instead.
   */
  async function decide(
    exchange: Exchange,
    id: string | null,
    { approved, declined, csrfToken }: ConsentForm,
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
    return await approve(core, user, interaction, client, declined);
  }

  return {
    /**
     * Returns the next step for the browser of an interaction: a URL to redirect to, or the data of a consent
     * page.
     */
    async next(exchange: Exchange, id: string | null): Promise<string | Question> {
      const begun = await begin(exchange, id);
      if (typeof begun === 'string') return begun;
      const { interaction, client, user } = begun;
      // The interaction began without a signed-in user. Now it gets the longer lifetime of one with a user.
      if (interaction.reasons.includes('signed_out')) await interaction.keep();

      const consent = await core.storage.consents.find(user.sub, client.clientId);
      const isPrompted = (interaction.params.prompt ?? '').split(' ').includes('consent');
      const isAsked = isPrompted || isAskedEveryTime(client, interaction.params.redirect_uri ?? '');
      const isDecided = consentedScopes(core, client, consent, requestedBy(interaction)) !== null;
      if (!isAsked && isDecided) return interaction.finish({ user, consented: false });
      const question = await questionTo(core, forms, user, interaction, client, consent);
      if (question !== null) return question;
      core.options.logger.warn(
        { client: client.clientId },
        'a user was refused: users.find does not know the sub that login.authenticate names',
      );
      const description = 'The user has no access.';
      return endUnasked(interaction, client, { error: 'access_denied', description });
    },

    /**
     * Applies the user's decision. If the same decision was made less than a minute ago, returns the first
     * result again.
     * @returns the URL to which the browser must go
     * @throws OAuthError if the decision is not from a page of this interaction, or the interaction has ended
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

    /**
     * Ends an interaction because the user does not want to sign in. @returns the URL to which the browser
     * must go
     * @throws OAuthError if the interaction has ended, unless it was cancelled less than a minute ago
     */
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
