import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InteractionResults, Provider } from 'oidc-provider';
import type { Core } from '../../context.ts';
import { OAuthError } from '../../errors.ts';
import type { KeySet } from '../../keys/signing-keys.ts';
import type { Authentication } from '../../ports/users.ts';
import { digest } from '../../tokens.ts';
import { unknownRequest } from '../client.ts';
import { resumePage } from '../endpoints.ts';
import { interactionSeconds } from '../lifetimes.ts';
import type { EngineRun, EngineRuns } from './provider.ts';

/**
 * Loads oidc-provider with the first request that needs it: half of the time of a start, and nothing to the
 * API endpoints.
 */
const loadEngine = () => import('./provider.ts');

type StoredInteraction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** How an interaction ends: somebody signed in, and may have consented on the way, or the client hears an error. */
export type InteractionEnd =
  | { readonly user: Authentication; readonly consented: boolean }
  | { readonly error: 'access_denied' | 'login_required'; readonly description: string };

/** The same in the words of the library. */
function resultOf(end: InteractionEnd): InteractionResults {
  if ('error' in end) return { error: end.error, error_description: end.description };
  const { sub, authenticatedAt } = end.user;
  const login = { accountId: sub, ts: Math.floor(authenticatedAt.getTime() / 1000), remember: false };
  return { login, ...(end.consented ? { consent: {} } : {}) };
}

/** An authorization request that waits for its user. */
export interface PendingInteraction {
  readonly id: string;
  /** Parameters of the authorization request, checked. */
  readonly params: { readonly [name: string]: string | undefined };
  /** Why the user is asked. */
  readonly reasons: readonly string[];
  /**
   * When the request began, in milliseconds since the Unix epoch, or the sign-in that was there by then, where the host's
   * clock is ahead: a new sign-in, where one is asked for, has to be later.
   */
  readonly startedAt: number;
  /**
   * Stores what the user decided and answers where the browser has to go.
   * @throws OAuthError when another answer has ended the interaction meanwhile
   */
  finish(end: InteractionEnd): Promise<string>;
  /** Gives it the time that the user of a request has who is signed in; see `interactionSeconds`. */
  keep(): Promise<void>;
}

/** The protocol engine, oidc-provider, behind the three things that Ostiary lets it do. */
export class Engine {
  readonly #core: Core;
  readonly #runs: EngineRuns = new WeakMap();
  #built: { readonly keys: KeySet; readonly provider: Provider } | null = null;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Loads and builds the engine, so that the first user need not wait for it. */
  async warmUp(): Promise<void> {
    await this.#current();
  }

  /**
   * Starts an authorization request. Answers where the browser goes: to the interaction page, or back to the
   * client.
   */
  authorize(
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    user: Authentication | null,
  ): Promise<string> {
    return this.#run(request, response, `/oauth/authorize?${query}`, user);
  }

  /**
   * Goes on after the user has answered. The cookie says with what; the id in the path is kept from the
   * engine's debug lines.
   */
  resume(request: IncomingMessage, response: ServerResponse, user: Authentication | null): Promise<string> {
    return this.#run(request, response, '/oauth/authorize/resumed', user);
  }

  /**
   * The interaction that this browser started, known by its cookie.
   * @throws OAuthError when there is none, or when it has another id
   */
  async interaction(
    request: IncomingMessage,
    response: ServerResponse,
    id: string | null,
  ): Promise<PendingInteraction> {
    const { options, storage } = this.#core;
    const { provider } = await this.#current();
    let stored: StoredInteraction;
    try {
      stored = await provider.interactionDetails(this.#facade(request, request.url ?? '/'), response);
    } catch (error) {
      throw (await loadEngine()).translated(error);
    }
    if (id !== null && stored.uid !== id) throw unknownRequest();
    const startedAt = Number(stored.prompt.details.startedAt);
    return {
      id: stored.uid,
      params: stored.params as PendingInteraction['params'],
      reasons: stored.prompt.reasons,
      startedAt,
      keep: () => storage.interactions.extend(digest(stored.jti), startedAt + interactionSeconds * 1000),
      async finish(end) {
        stored.result = resultOf(end);
        try {
          await stored.persist();
        } catch (error) {
          throw (await loadEngine()).translated(error);
        }
        return resumePage(options, stored.uid);
      },
    };
  }

  /** Lets the browser's later requests to another page of the host find the interaction too. */
  async bindTo(
    request: IncomingMessage,
    response: ServerResponse,
    interactionId: string,
    pagePath: string,
  ): Promise<void> {
    const { provider } = await this.#current();
    provider
      .createContext(this.#facade(request, pagePath), response)
      .cookies.set(provider.cookieName('interaction'), interactionId, {
        path: pagePath,
        httpOnly: true,
        sameSite: 'lax',
        secure: this.#core.options.authUrl.protocol === 'https:',
        signed: true,
      });
  }

  async #run(
    request: IncomingMessage,
    response: ServerResponse,
    url: string,
    authentication: Authentication | null,
  ) {
    const { provider } = await this.#current();
    const facade = this.#facade(request, url);
    const run: EngineRun = { authentication };
    this.#runs.set(facade, run);
    await provider.callback()(facade, response);
    if (run.error !== undefined) throw run.error;
    if (!run.location)
      throw new OAuthError('server_error', undefined, { cause: new Error('the engine did not redirect') });
    return run.location;
  }

  /**
   * The request as the engine may see it: a GET of a normalized address. The host's own request object stays
   * as it is.
   */
  #facade(request: IncomingMessage, url: string): IncomingMessage {
    return Object.create(request, {
      method: { value: 'GET' },
      url: { value: url, writable: true },
      originalUrl: { value: undefined },
      baseUrl: { value: undefined },
    });
  }

  async #current(): Promise<{ provider: Provider }> {
    const { createProvider } = await loadEngine();
    const keys = await this.#core.signingKeys.current();
    if (this.#built?.keys !== keys)
      this.#built = { keys, provider: createProvider(this.#core, keys, this.#runs) };
    return this.#built;
  }
}
