import { OAuthError } from '../errors.ts';
import { UnsealError } from '../keys/sealing.ts';
import type { Core } from '../options/context.ts';
import type { PushedRequestKey } from '../ports/pushed-requests.ts';
import { digest } from '../secrets/tokens.ts';
import { knownParameters, type Parameter, requestedClientId } from './authorize-request.ts';
import { pushedRequestSeconds } from './lifetimes.ts';
import { unfinishedLimit } from './limits.ts';
import { oneValue, type RawParameters, readQuery } from './request-parameters.ts';

/** Prefix of request URIs of this service (RFC 9126, section 2.2). */
const uriPrefix = 'urn:ietf:params:oauth:request_uri:';

/** A pushed request found by its request URI. */
export interface FoundRequest {
  readonly key: PushedRequestKey;
  /** Parameters that the client pushed. Checked then, but not since, and the client may have been changed. */
  readonly parameters: RawParameters<Parameter>;
  /**
   * Query string with the two parameters that refer to the pushed request (`client_id` and `request_uri`).
   */
  readonly reference: string;
}

export type PushedRequests = ReturnType<typeof pushedRequests>;

const contextOf = ({ digest: id }: PushedRequestKey, member: string): string =>
  `pushed request ${Buffer.from(id).toString('base64url')} ${member}`;

const unknown = (): OAuthError => new OAuthError('invalid_request_uri');

/**
 * Creates the operations on authorization requests that clients push and browsers refer to (RFC 9126). Their
 * parameters, some of which identify the user, are stored encrypted.
 */
export function pushedRequests(core: Core) {
  const { storage, sealer, clock, random, options } = core;
  const store = storage.pushedRequests;
  const requireRoom = unfinishedLimit(
    core,
    (now) => store.count(now, options.limits.unfinishedInteractions),
    'Too many authorization requests were pushed in the last minute.',
  );

  /** Decrypts a member of a stored pushed request. @throws OAuthError if its sealing key was removed */
  function opened(key: PushedRequestKey, member: string, sealed: unknown): string {
    try {
      return sealer.open(String(sealed), contextOf(key, member));
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      throw unknown();
    }
  }

  return {
    /**
     * Stores a checked pushed request and returns its request URI.
     * @throws OAuthError `slow_down` if there are too many
     */
    async push(clientId: string, query: string): Promise<string> {
      await requireRoom();
      const uri = uriPrefix + random.bytes(32).toString('base64url');
      const key = { digest: digest(uri), clientId };
      const payload = { query: sealer.seal(query, contextOf(key, 'query')) };
      await store.save({ ...key, payload, expiresAt: clock.now() + pushedRequestSeconds * 1000 });
      return uri;
    },

    /**
     * Finds the pushed request to which a browser's parameters refer; `null` if they do not refer to a pushed
     * request of this service. If the request was used before, returns the page that it started.
     * @throws OAuthError `invalid_request_uri` if the request is unknown or expired, belongs to another client, or was used
     * and started no page
     */
    async find(sent: RawParameters<Parameter>): Promise<FoundRequest | { readonly page: string } | null> {
      const uri = oneValue(sent, 'request_uri');
      if (uri === undefined || !uri.startsWith(uriPrefix)) return null;
      const clientId = requestedClientId(sent);
      const key = { digest: digest(uri), clientId };
      const found = await store.find(key, clock.now());
      if (found === null) throw unknown();
      const { query, page } = found.payload;
      if (!found.isUsed) {
        const parameters = readQuery(opened(key, 'query', query), knownParameters);
        const reference = new URLSearchParams({ client_id: clientId, request_uri: uri }).toString();
        return { key, parameters, reference };
      }
      if (page === undefined) throw unknown();
      return { page: opened(key, 'page', page) };
    },

    /**
     * Marks a pushed request as used. @throws OAuthError `invalid_request_uri` if a concurrent call was
     * faster
     */
    async use({ key }: FoundRequest): Promise<void> {
      if (!(await store.use(key, clock.now()))) throw unknown();
    },

    /**
     * Stores the URL of the page that a used pushed request has started. A browser that comes again is
     * redirected to that page, and needs the cookie from its first visit. A failure is only logged, because
     * the browser gets its response anyway.
     */
    async keepPage({ key }: FoundRequest, page: string): Promise<void> {
      try {
        await store.replaceUsed(key, { page: sealer.seal(page, contextOf(key, 'page')) });
      } catch (error) {
        options.logger.warn({ err: error }, 'the page of a pushed request was not kept for a second click');
      }
    },
  };
}
