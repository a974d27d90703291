import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { OAuthError } from '../../errors.ts';
import { isScript } from '../../http/prefetch.ts';
import type { KeySet } from '../../keys/signing-keys.ts';
import type { Core } from '../../options/context.ts';
import type { Authentication } from '../../ports/users.ts';
import { digest } from '../../secrets/tokens.ts';
import { isUnknownRequest, unknownRequest } from '../client.ts';
import { pageUrl } from '../endpoints.ts';
import { hostPageUrl } from '../host-page.ts';
import { answerSeconds, interactionSeconds } from '../lifetimes.ts';
import { redirectLocation, responseOf } from '../redirect-location.ts';
import type { EngineRun } from './adapter.ts';
import { type Decision, findAnswer, type GivenAnswer, saveAnswer } from './answers.ts';
import type { RequestStart } from './policy.ts';

/**
 * Loads oidc-provider with the first request that needs it, because loading takes half of the start's time
 * and API endpoints do not use it.
 */
const loadEngine = () => import('./provider.ts');

/** Error for the client with which an interaction ends. */
export interface InteractionError {
  readonly error: 'access_denied' | 'login_required' | 'unmet_authentication_requirements';
  readonly description: string;
}

/**
 * Outcome with which an interaction ends: a user who signed in, perhaps with a new consent, or an error for
 * the client.
 */
type InteractionEnd = { readonly user: Authentication; readonly consented: boolean } | InteractionError;

/** Node request and response, as in Koa's context. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** An authorization request that waits until the user signs in or consents. */
export interface PendingInteraction {
  readonly id: string;
  /** Checked parameters of the authorization request. `resources` are the values of `resource`, separated by spaces. */
  readonly params: { readonly [name: string]: string | undefined };
  /** Reasons for asking the user, in the words of oidc-provider. */
  readonly reasons: readonly string[];
  /** Time at which the authorization request began, and the user who was signed in then. */
  readonly start: RequestStart;
  /**
   * Ends the interaction of an authorization request and returns the URL to which the browser must go.
   * @param decision - decision of the user, if the user was asked
   * @throws OAuthError if another decision has ended the interaction in the meantime
   */
  finish(end: InteractionEnd, decision?: Decision): Promise<string>;
  /**
   * Extends the lifetimes of the interaction and of its cookie to that of an interaction with a signed-in
   * user: `interactionSeconds` (an hour) from the start of the authorization request.
   */
  keep(): Promise<void>;
}

/**
 * Wraps oidc-provider, the protocol engine, for its three uses: starting authorization requests, resuming
 * them, and reading interactions.
 */
export class Engine {
  readonly #core: Core;
  #built: { readonly keys: KeySet; readonly provider: Provider } | null = null;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Starts an authorization request. Returns the URL to which the browser must go: the page of a new
   * interaction (then `isBegun` is true), or the client's redirect URI.
   */
  async authorize(
    exchange: Exchange,
    query: string,
    user: Authentication | null,
  ): Promise<{ readonly location: string; readonly isBegun: boolean }> {
    const parameters = new URLSearchParams(query);
    const resources = parameters.getAll('resource');
    // The library allows the parameter once only, and gives it another meaning.
    parameters.delete('resource');
    if (resources.length > 0) parameters.set('resources', resources.join(' '));
    const run: EngineRun = {
      authentication: user,
      scope: parameters.get('scope'),
      resources,
      redirectUri: parameters.get('redirect_uri') ?? '',
      claims: parameters.get('claims'),
      isScript: isScript(exchange.req),
    };
    const location = await this.#run(exchange, `/oauth/authorize?${parameters}`, run);
    return { location, isBegun: run.begun !== undefined };
  }

  /**
   * Resumes the interaction that the browser's cookie names. Returns the URL to which the browser must go.
   * Does not pass the id from the path to oidc-provider, whose debug lines would show it. After the
   * interaction has ended, the same browser and user get the same response for a minute.
   */
  async resume(exchange: Exchange, user: Authentication | null): Promise<string> {
    const id = await this.#heldId(exchange);
    const run: EngineRun = { authentication: user, isScript: isScript(exchange.req) };
    const sub = user?.sub ?? null;
    let location: string;
    try {
      location = await this.#run(exchange, '/oauth/authorize/resumed', run);
    } catch (error) {
      if (id === null || !isUnknownRequest(error)) throw error;
      const answer = await findAnswer(this.#core, id);
      if (answer === null || answer.sub !== sub) throw error;
      return answer.location;
    }
    if (id === null) return location;
    // If the user is asked again, this interaction was replaced by another one and has no response.
    const isAnswered = run.begun === undefined;
    const decision = run.decision ?? null;
    await this.#release(exchange, id, isAnswered ? answerSeconds : 0, decision);
    if (isAnswered) await saveAnswer(this.#core, id, { decision, sub, location });
    return location;
  }

  /**
   * Finds the stored response to an ended interaction that this browser's cookie names. `null` if there is
   * none, or if the cookie names another interaction than `id`.
   */
  async answered(exchange: Exchange, id: string | null): Promise<(GivenAnswer & { id: string }) | null> {
    const held = await this.#heldId(exchange);
    if (held === null || (id !== null && held !== id)) return null;
    const answer = await findAnswer(this.#core, held);
    return answer && { ...answer, id: held };
  }

  /**
   * Returns the waiting interaction that this browser's cookie names.
   * @throws OAuthError if there is none, or if the cookie names another interaction than `id`
   */
  async interaction(exchange: Exchange, id: string | null): Promise<PendingInteraction> {
    const { req, res } = exchange;
    const { options, storage, clock } = this.#core;
    const provider = await this.#current();
    const inOurWords = async (error: unknown): Promise<never> => {
      throw (await loadEngine()).translated(error);
    };
    const stored = await provider.interactionDetails(facade(req, req.url ?? '/'), res).catch(inOurWords);
    if (id !== null && stored.uid !== id) throw unknownRequest();
    const start = (await loadEngine()).readRequestStart(stored.prompt.details);
    return {
      id: stored.uid,
      params: stored.params as PendingInteraction['params'],
      reasons: stored.prompt.reasons,
      start,
      keep: async () => {
        const endsAt = start.startedAt + interactionSeconds * 1000;
        await storage.interactions.extend(digest(stored.jti), endsAt);
        await this.#hold(exchange, stored.jti, (endsAt - clock.now()) / 1000);
      },
      async finish(end, decision) {
        if ('error' in end) {
          stored.result = { error: end.error, error_description: end.description };
        } else {
          const ts = Math.floor(end.user.authenticatedAt.getTime() / 1000);
          const login = { accountId: end.user.sub, ts, remember: false };
          stored.result = { login, ...(end.consented && { consent: {} }) };
        }
        if (decision !== undefined) stored.result.decision = decision;
        await stored.persist().catch(inOurWords);
        return pageUrl(options, 'resume', stored.uid);
      },
    };
  }

  /**
   * Sets the interaction's cookie for the host application's own consent page, so that the browser's later
   * requests to that page find the interaction.
   * @param seconds - lifetime of the cookie
   */
  async bindTo(exchange: Exchange, interactionId: string, page: URL, seconds: number): Promise<void> {
    await this.#setCookie(exchange, interactionId, page, seconds);
  }

  /**
   * Sets the interaction's cookie for the path of its page. The paths that resume and cancel an interaction
   * are below that path, so one cookie serves all of them.
   * @param seconds - lifetime of the cookie; 0 or less removes the cookie
   */
  async #hold(exchange: Exchange, id: string, seconds: number): Promise<void> {
    const page = new URL(pageUrl(this.#core.options, 'interaction', id));
    await this.#setCookie(exchange, id, page, seconds);
  }

  /**
   * Shortens the lifetime of the cookies of an interaction that has ended.
   * @param seconds - time for which the response can be returned again; 0 removes the cookies
   * @param decision - decision of the user. Without `approve` or `deny`, the cookie of the host's own consent page is removed
   */
  async #release(exchange: Exchange, id: string, seconds: number, decision: Decision | null): Promise<void> {
    const { interactionUrl, authUrl } = this.#core.options;
    await this.#hold(exchange, id, seconds);
    if (interactionUrl === undefined) return;
    const isRepeated = decision === 'approve' || decision === 'deny';
    const page = hostPageUrl(interactionUrl, id, authUrl);
    await this.#setCookie(exchange, id, page, isRepeated ? seconds : 0);
  }

  /** Sets the cookie of an interaction for the path of a page. @param seconds - lifetime of the cookie; 0 or less removes the cookie */
  async #setCookie({ req, res }: Exchange, id: string, page: URL, seconds: number): Promise<void> {
    const provider = await this.#current();
    const path = page.pathname;
    const secure = this.#core.options.authUrl.protocol === 'https:';
    const settings = { path, secure, httpOnly: true, sameSite: 'lax', signed: true } as const;
    const { cookies } = provider.createContext(facade(req, path), res);
    const name = provider.cookieName('interaction');
    if (seconds > 0) cookies.set(name, id, { ...settings, maxAge: Math.ceil(seconds) * 1000 });
    else cookies.set(name, null, settings);
  }

  /** Returns the id in the signed interaction cookie; `null` if there is none. */
  async #heldId({ req, res }: Exchange): Promise<string | null> {
    const provider = await this.#current();
    const { cookies } = provider.createContext(facade(req, req.url ?? '/'), res);
    return cookies.get(provider.cookieName('interaction'), { signed: true }) ?? null;
  }

  async #run(exchange: Exchange, url: string, run: EngineRun): Promise<string> {
    const { req, res } = exchange;
    const provider = await this.#current();
    const { currentRun } = await loadEngine();
    await currentRun.run(run, () => provider.callback()(facade(req, url), res));
    if (run.error !== undefined) throw run.error;
    if (!run.location)
      throw new OAuthError('server_error', undefined, { cause: new Error('the engine did not redirect') });
    if (run.begun !== undefined) {
      await this.#hold(exchange, run.begun.id, run.begun.seconds);
      return run.location;
    }
    const { redirectUri = '' } = run;
    return redirectLocation(redirectUri, responseOf(run.location, redirectUri));
  }

  async #current(): Promise<Provider> {
    const { createProvider } = await loadEngine();
    const keys = await this.#core.signingKeys.current();
    if (this.#built?.keys !== keys) this.#built = { keys, provider: createProvider(this.#core, keys) };
    return this.#built.provider;
  }
}

/**
 * Creates the request that oidc-provider sees: a GET of a normalized URL. Leaves the host application's own
 * request object unchanged.
 */
function facade(request: IncomingMessage, url: string): IncomingMessage {
  return Object.create(request, {
    method: { value: 'GET' },
    url: { value: url, writable: true },
    originalUrl: { value: undefined },
    baseUrl: { value: undefined },
  });
}
