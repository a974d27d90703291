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

/** Loaded with the first request that needs it: half of the time of a start, and nothing to the API endpoints. */
const loadEngine = () => import('./provider.ts');

/** End of an interaction: a user signed in, perhaps with a new consent, or the client gets an error. */
export type InteractionEnd =
  | { readonly user: Authentication; readonly consented: boolean }
  | { readonly error: 'access_denied' | 'login_required'; readonly description: string };

/** A request and its response, as Koa's context has them. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** An authorization request that waits for its user. */
export interface PendingInteraction {
  readonly id: string;
  /** Parameters of the authorization request, checked. */
  readonly params: { readonly [name: string]: string | undefined };
  /** Reason for asking the user. */
  readonly reasons: readonly string[];
  /** Start of the request, and the user who was signed in then. */
  readonly start: RequestStart;
  /**
   * Ends the interaction and returns the URL to which the browser must go.
   * @param decision - of a user who was asked
   * @throws OAuthError when another answer has ended it meanwhile
   */
  finish(end: InteractionEnd, decision?: Decision): Promise<string>;
  /** Gives it the time that the user of a request has who is signed in; see `interactionSeconds`. */
  keep(): Promise<void>;
}

/** The protocol engine, oidc-provider, behind the three things that Ostiary lets it do. */
export class Engine {
  readonly #core: Core;
  #built: { readonly keys: KeySet; readonly provider: Provider } | null = null;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Starts an authorization request. Answers where the browser goes: to the interaction page, or back to the client. */
  authorize(exchange: Exchange, query: string, user: Authentication | null): Promise<string> {
    const parameters = new URLSearchParams(query);
    return this.#run(exchange, `/oauth/authorize?${query}`, {
      authentication: user,
      scope: parameters.get('scope'),
      redirectUri: parameters.get('redirect_uri') ?? '',
      isScript: isScript(exchange.req),
    });
  }

  /**
   * Goes on with the interaction of the cookie; the id in the path is kept from the engine's debug lines. Once the interaction has
   * ended, the same browser and user get the same answer for a minute.
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
    // A user who is asked anew has another interaction; this one has no answer.
    const isAnswered = run.begun === undefined;
    const decision = run.decision ?? null;
    await this.#release(exchange, id, isAnswered ? answerSeconds : 0, decision);
    if (isAnswered) await saveAnswer(this.#core, id, { decision, sub, location });
    return location;
  }

  /**
   * Finds the answer to the ended interaction of this browser's cookie. `null` if there is none, or if the
   * cookie has another id.
   */
  async answered(exchange: Exchange, id: string | null): Promise<(GivenAnswer & { id: string }) | null> {
    const held = await this.#heldId(exchange);
    if (held === null || (id !== null && held !== id)) return null;
    const answer = await findAnswer(this.#core, held);
    return answer && { ...answer, id: held };
  }

  /**
   * Returns the interaction of this browser's cookie.
   * @throws OAuthError if there is none, or if it has another id
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
   * Lets the browser's later requests to the host's own consent page find the interaction too.
   * @param seconds - life of the cookie
   */
  async bindTo(exchange: Exchange, interactionId: string, page: URL, seconds: number): Promise<void> {
    await this.#setCookie(exchange, interactionId, page, seconds);
  }

  /**
   * Gives the browser the cookie of its interaction, which lives as long as the interaction. The pages that resume and cancel an
   * interaction are below its page, so that one cookie does for all of them.
   */
  async #hold(exchange: Exchange, id: string, seconds: number): Promise<void> {
    const page = new URL(pageUrl(this.#core.options, 'interaction', id));
    await this.#setCookie(exchange, id, page, seconds);
  }

  /**
   * Shortens the lives of the cookies of an interaction that has ended.
   * @param seconds - time in which its answer is repeated
   * @param decision - step with which the user ended it. Without an answer, nothing is repeated on the host's own consent page.
   */
  async #release(exchange: Exchange, id: string, seconds: number, decision: Decision | null): Promise<void> {
    const { interactionUrl, authUrl } = this.#core.options;
    await this.#hold(exchange, id, seconds);
    if (interactionUrl === undefined) return;
    const isRepeated = decision === 'approve' || decision === 'deny';
    const page = hostPageUrl(interactionUrl, id, authUrl);
    await this.#setCookie(exchange, id, page, isRepeated ? seconds : 0);
  }

  /** @param seconds - life of the cookie; 0 or less takes it away */
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

  /** Reads the id in the signed cookie of an interaction. */
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

/** The request as the engine may see it: a GET of a normalized address. The host's own request object stays as it is. */
function facade(request: IncomingMessage, url: string): IncomingMessage {
  return Object.create(request, {
    method: { value: 'GET' },
    url: { value: url, writable: true },
    originalUrl: { value: undefined },
    baseUrl: { value: undefined },
  });
}
