import type { ActiveToken } from '../oauth/token-checks.ts';
import type { AnyScope } from '../scopes/catalog.ts';
import { type ResourceDocument, type ResourceMetadata, resourceDocument } from './metadata.ts';
import { type RefusalReason, type RefusedRequest, refusal } from './refusals.ts';
import { accessTokenOf, type ResourceAnswer, type ResourceRequest } from './requests.ts';

/**
 * A protected resource (RFC 9728): an API that checks its requests and publishes which server issues tokens
 * for it.
 */
export interface ProtectedResource<Name extends string = AnyScope> {
  /** Content of the metadata document: the issuer of tokens for this resource, and the scopes to request. */
  readonly metadata: ResourceMetadata;
  /** Path of the metadata document, such as `/.well-known/oauth-protected-resource/mcp`. */
  readonly metadataPath: string;
  readonly metadataUrl: string;
  /**
   * Responds to a request for the metadata document, or to its CORS preflight request; `null` for any other
   * path.
   */
  metadataAnswer(request: ResourceRequest): ResourceAnswer | null;
  /**
   * Checks the access token of a request. Returns the user, client and scopes of the token, or the response
   * to send: 401 without a valid token for this resource; 403 if the token lacks a scope, with the scopes to
   * request (step-up); 503 if the token cannot be checked.
   *
   * @param requirement - `scopes`: additional scopes that this request needs
   * @throws TypeError for a scope that does not exist or belongs only to other resources; outside of
   * Ostiary's process only for malformed names
   *
   * @example
   * ```ts
   * const access = await tools.check(request, { scopes: ['tools:edit'] });
   * if (!access.active) return new Response(access.body, access);
   * const files = await filesOf(access.sub);
   * ```
   */
  check(
    request: ResourceRequest,
    requirement?: { readonly scopes?: readonly Name[] },
  ): Promise<ActiveToken | RefusedRequest>;
}

/** Functions with which a protected resource checks requests, and the scopes that it needs. */
export interface ResourceChecks {
  /** Scopes that every request to the API needs. */
  readonly scopes: readonly string[];
  /** True if access tokens may be bound to a key and use the scheme `DPoP`. */
  readonly takesDpop: boolean;
  /**
   * Checks that a token for the resource can have these scopes, as far as this process knows. @throws TypeError
   * if it can never have one of them
   */
  readonly requireScopes: (scopes: readonly string[]) => void;
  /**
   * Returns those scopes of a token that belong to the resource, as far as this process knows, for the header
   * `WWW-Authenticate`.
   */
  readonly scopesOfResource: (token: ActiveToken) => readonly string[];
  /**
   * Checks an access token. Returns the token, or the reason for refusing it; `unavailable` if it cannot be
   * checked.
   */
  readonly verify: (
    token: string,
    request: ResourceRequest,
  ) => Promise<ActiveToken | { active: false; reason: RefusalReason }>;
}

const union = (...lists: (readonly string[])[]): string[] => [...new Set(lists.flat())];

/** Creates a protected resource from its metadata document and its check functions. */
export function createProtectedResource(
  metadata: ResourceMetadata,
  { scopes, takesDpop, requireScopes, scopesOfResource, verify }: ResourceChecks,
): ProtectedResource {
  const document: ResourceDocument = resourceDocument(metadata);
  requireScopes(scopes);

  return {
    metadata,
    metadataPath: document.path,
    metadataUrl: document.url,
    metadataAnswer: document.answer,
    async check(request, { scopes: more = [] } = {}) {
      requireScopes(more);
      const needed = union(scopes, more);
      const text = accessTokenOf(request, takesDpop);
      if (text === null) return refusal('missing', needed, document.url);
      const token = await verify(text, request);
      if (!token.active) return refusal(token.reason, needed, document.url);
      if (needed.every((scope) => token.scopes.includes(scope))) return token;
      // Include the resource's scopes that the token already has: a client that requested only the missing
      // ones would lose them.
      return refusal('insufficient_scope', union(needed, scopesOfResource(token)), document.url);
    },
  };
}
