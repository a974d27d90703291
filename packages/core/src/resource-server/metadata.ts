import { headerOf, pathOf, type ResourceAnswer, type ResourceRequest } from './requests.ts';

/** Metadata document of a protected resource (RFC 9728, section 2). */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported?: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly dpop_signing_alg_values_supported?: readonly string[];
  readonly resource_name?: string;
}

/** Metadata document of a protected resource, with its URL and path. */
export interface ResourceDocument {
  readonly metadata: ResourceMetadata;
  /** Path of the metadata document on the resource's host. */
  readonly path: string;
  readonly url: string;
  /**
   * Responds to a request for the metadata document, from any origin; `null` for a request to another path.
   */
  readonly answer: (request: ResourceRequest) => ResourceAnswer | null;
}

/**
 * Headers that let pages of any origin read the metadata document, because apps in browsers start with it.
 */
const anyOrigin = { 'Access-Control-Allow-Origin': '*' };

function preflightAnswer(request: ResourceRequest): ResourceAnswer {
  const asked = headerOf(request, 'access-control-request-headers');
  const headers = {
    ...anyOrigin,
    Vary: 'Access-Control-Request-Headers',
    'Access-Control-Allow-Methods': 'GET, HEAD',
    ...(asked !== null && { 'Access-Control-Allow-Headers': asked }),
    'Access-Control-Max-Age': '600',
  };
  return { status: 204, headers, body: null };
}

/**
 * Creates the metadata document of a protected resource. The document's path is the well-known path followed
 * by the resource's path (RFC 9728, section 3.1).
 */
export function resourceDocument(metadata: ResourceMetadata): ResourceDocument {
  const { origin, pathname } = new URL(metadata.resource);
  const path = `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
  const body = JSON.stringify(metadata);
  const headers = {
    ...anyOrigin,
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=300',
  };

  return {
    metadata,
    path,
    url: origin + path,
    answer(request) {
      if (pathOf(request) !== path) return null;
      if (request.method === 'OPTIONS') return preflightAnswer(request);
      if (request.method === 'GET') return { status: 200, headers, body };
      if (request.method === 'HEAD') return { status: 200, headers, body: null };
      return { status: 405, headers: { Allow: 'GET, HEAD, OPTIONS' }, body: null };
    },
  };
}
