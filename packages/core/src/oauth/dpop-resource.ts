import type { Clock } from '../ports/clock.ts';
import type { AccessTokenState } from '../ports/grants.ts';
import type { DpopProof } from './dpop-proof.ts';

/** Request headers of Node, or a `Headers` object. */
type RequestHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/**
 * A request with an access token to an API: a request of Node or of the Web API, or an object with these
 * members.
 */
export interface PresentedRequest {
  readonly method?: string | undefined;
  /** Path of the request with its query, or a whole URL. Of a whole URL only the path is used. */
  readonly url?: string | undefined;
  /**
   * Value of `url` before Express removed the path at which a router is mounted. It takes precedence over
   * `url`.
   */
  readonly originalUrl?: string | undefined;
  readonly headers: RequestHeaders;
}

/**
 * Reason why an access token is refused because of its DPoP proof. The description may be sent to the client.
 */
export interface ProofProblem {
  readonly code: 'invalid_token' | 'invalid_dpop_proof';
  readonly description: string;
}

/** Functions and settings with which DPoP proofs of API requests are checked. */
export interface ProofChecks {
  /** True if access tokens that are bound to a key are accepted. */
  readonly takesDpop: boolean;
  readonly clock: Clock;
  /** Marks a DPoP proof as used. Returns `false` if it was used before. */
  readonly useProof: (proof: DpopProof) => Promise<boolean>;
}

const wrongToken = (reason: string): ProofProblem => ({
  code: 'invalid_token',
  description: `The access token ${reason}`,
});
const wrongProof = (description: string): ProofProblem => ({ code: 'invalid_dpop_proof', description });

/**
 * Returns a header of a request; `null` if it is missing. A repeated header has its values separated by
 * commas.
 */
function headerOf(headers: RequestHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const fields: readonly (readonly [string, unknown])[] = Object.entries(headers);
  const values = fields.flatMap(([field, value]) => (field.toLowerCase() === name ? (value ?? []) : []));
  return values.length === 0 ? null : values.join(', ');
}

/**
 * Returns the URL of a request, always with the API's own origin, because callers can write any Host header
 * and any URL.
 */
function urlOf({ url = '/', originalUrl = url }: PresentedRequest, origin: string): string {
  const path = originalUrl.startsWith('/') ? originalUrl : (URL.parse(originalUrl)?.pathname ?? '/');
  return origin + path;
}

/** Returns the authorization scheme of a request in lower case; empty if there is none. */
const schemeOf = ({ headers }: PresentedRequest): string =>
  (headerOf(headers, 'authorization') ?? '').split(' ', 1)[0]?.toLowerCase() ?? '';

/**
 * Checks that a request may use an access token (RFC 9449, section 7). A token that is bound to a key needs
 * the scheme `DPoP` and an unused proof for this request. With `takesDpop`, a token that is not bound needs
 * another scheme.
 * @param request - request that presents the token; `null` if the caller has only the token
 * @param origin - origin of the API as clients call it
 * @returns the problem; `null` if the request may use the token
 */
export async function proofProblem(
  { takesDpop, clock, useProof }: ProofChecks,
  token: Pick<AccessTokenState, 'dpopJkt'>,
  accessToken: string,
  request: PresentedRequest | null,
  origin: string,
): Promise<ProofProblem | null> {
  if (token.dpopJkt === null && !takesDpop) return null;
  const hasScheme = request !== null && schemeOf(request) === 'dpop';
  if (token.dpopJkt === null)
    return hasScheme ? wrongToken('is not bound to a key; send it as Bearer.') : null;
  if (!takesDpop || !hasScheme)
    return wrongToken('is bound to a key; send it with the scheme DPoP and a proof.');
  const text = headerOf(request.headers, 'dpop');
  if (text === null) return wrongProof('The DPoP proof is missing.');
  const { readProof } = await import('./dpop-proof.ts');
  const proven = { method: request.method ?? 'GET', url: urlOf(request, origin), accessToken };
  const read = await readProof(text, proven, clock.now());
  if ('problem' in read) return wrongProof(read.problem);
  if (read.proof.jkt !== token.dpopJkt)
    return wrongProof('The key of the DPoP proof is another one than the access token is bound to.');
  return (await useProof(read.proof)) ? null : wrongProof('The DPoP proof was used before.');
}
