import type { ActiveToken } from '../oauth/token-checks.ts';
import type { AnyScope } from '../scopes/catalog.ts';
import { type ResourceDocument, type ResourceMetadata, resourceDocument } from './metadata.ts';
import { type RefusalReason, type RefusedRequest, refusal } from './refusals.ts';
import { bearerToken, type ResourceAnswer, type ResourceRequest } from './requests.ts';

/** A protected resource (RFC 9728): an API that checks its requests and says where tokens for it come from. */
export interface ProtectedResource<Name extends string = AnyScope> {
  /** The document: who issues tokens for this resource, and which scopes to request. */
  readonly metadata: ResourceMetadata;
  /** Path of the document, such as `/.well-known/oauth-protected-resource/mcp`. */
  readonly metadataPath: string;
  readonly metadataUrl: string;
  /** Answers a request for the document, or its preflight; `null` for every other path. */
  metadataAnswer(request: ResourceRequest): ResourceAnswer | null;
  /**
   * Checks the access token of a request. Returns the user, client and scopes of the token, or the response to send: 401 without a
   * valid token for this resource, 403 where the token lacks a scope, with the scopes to request (step-up), 503 where the token
   * cannot be checked.
   *
   * @param requirement - `scopes`: scopes that this request needs beside those that every request needs
   * @throws TypeError for a scope that does not exist
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

/** How a protected resource checks what it is given. */
export interface ResourceChecks {
  /** Scopes that every request needs. */
  readonly scopes: readonly string[];
  /** @throws TypeError for a scope that no token for the resource can have */
  readonly requireScopes: (scopes: readonly string[]) => void;
  /** Returns the scopes of a token that a challenge repeats: those that belong to the resource. */
  readonly ownScopes: (token: ActiveToken) => readonly string[];
  /** Returns the token, or the reason for refusing it; `unavailable` if it cannot be checked. */
  readonly verify: (token: string) => Promise<ActiveToken | { active: false; reason: RefusalReason }>;
}

const union = (...lists: (readonly string[])[]): string[] => [...new Set(lists.flat())];

/** Makes a protected resource of its document and of its checks. */
export function createProtectedResource(
  metadata: ResourceMetadata,
  { scopes, requireScopes, ownScopes, verify }: ResourceChecks,
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
      const text = bearerToken(request);
      if (text === null) return refusal('missing', needed, document.url);
      const token = await verify(text);
      if (!token.active) return refusal(token.reason, needed, document.url);
      if (needed.every((scope) => token.scopes.includes(scope))) return token;
      // Names what the token has too: clients that request nothing but these scopes would lose it.
      return refusal('insufficient_scope', union(needed, ownScopes(token)), document.url);
    },
  };
}
