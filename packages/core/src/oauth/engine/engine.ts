import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import type { Core } from '../../context.ts';
import { OAuthError } from '../../errors.ts';
import type { KeySet } from '../../keys/signing-keys.ts';
import type { Authentication } from '../../ports/users.ts';
import { digest } from '../../tokens.ts';
import { unknownRequest } from '../client.ts';
import { pageUrl } from '../endpoints.ts';
import { interactionSeconds } from '../lifetimes.ts';
import type { EngineRun } from './adapter.ts';
import type { RequestStart } from './policy.ts';

/** Loaded with the first request that needs it: half of the time of a start, and nothing to the API endpoints. */
const loadEngine = () => import('./provider.ts');

/** How an interaction ends: somebody signed in, and may have consented on the way, or the client hears an error. */
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
  /** Why the user is asked. */
  readonly reasons: readonly string[];
  /** When the request began, and who was signed in then. */
  readonly start: RequestStart;
  /** Where the browser has to go then. @throws OAuthError when another answer has ended it meanwhile */
  finish(end: InteractionEnd): Promise<string>;
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
    });
  }

  /** The cookie says with what; the id in the path is kept from the engine's debug lines. */
  resume(exchange: Exchange, user: Authentication | null): Promise<string> {
    return this.#run(exchange, '/oauth/authorize/resumed', { authentication: user });
  }

  /** The one of this browser's cookie. @throws OAuthError when there is none, or when it has another id */
  async interaction({ req, res }: Exchange, id: string | null): Promise<PendingInteraction> {
    const { options, storage } = this.#core;
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
      keep: () =>
        storage.interactions.extend(digest(stored.jti), start.startedAt + interactionSeconds * 1000),
      async finish(end) {
        if ('error' in end) {
          stored.result = { error: end.error, error_description: end.description };
        } else {
          const ts = Math.floor(end.user.authenticatedAt.getTime() / 1000);
          const login = { accountId: end.user.sub, ts, remember: false };
          stored.result = { login, ...(end.consented && { consent: {} }) };
        }
        await stored.persist().catch(inOurWords);
        return pageUrl(options, 'resume', stored.uid);
      },
    };
  }

  /** Lets the browser's later requests to another page of the host find the interaction too. */
  async bindTo({ req, res }: Exchange, interactionId: string, path: string): Promise<void> {
    const provider = await this.#current();
    const secure = this.#core.options.authUrl.protocol === 'https:';
    const settings = { path, secure, httpOnly: true, sameSite: 'lax', signed: true } as const;
    const { cookies } = provider.createContext(facade(req, path), res);
    cookies.set(provider.cookieName('interaction'), interactionId, settings);
  }

  async #run({ req, res }: Exchange, url: string, run: EngineRun): Promise<string> {
    const provider = await this.#current();
    const { currentRun } = await loadEngine();
    await currentRun.run(run, () => provider.callback()(facade(req, url), res));
    if (run.error !== undefined) throw run.error;
    if (!run.location)
      throw new OAuthError('server_error', undefined, { cause: new Error('the engine did not redirect') });
    return run.location;
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
