import type { Core } from '../options/context.ts';
import type { AccessTokenState } from '../ports/grants.ts';
import { useProof } from './dpop-binding.ts';

/** Headers of a request: those of Node, or `Headers`. */
type RequestHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** Request to an API that presents an access token: one of Node or of the Web API, or these members of it. */
export interface PresentedRequest {
  readonly method?: string | undefined;
  /** Path with its query, or a whole URL, of which only the path counts. */
  readonly url?: string | undefined;
  /** The same before Express took the path of a router off; counts instead of `url`. */
  readonly originalUrl?: string | undefined;
  readonly headers: RequestHeaders;
}

/** Reason for refusing an access token because of its proof. The description is public. */
export interface ProofProblem {
  readonly code: 'invalid_token' | 'invalid_dpop_proof';
  readonly description: string;
}

const wrongToken = (reason: string): ProofProblem => ({
  code: 'invalid_token',
  description: `The access token ${reason}`,
});
const wrongProof = (description: string): ProofProblem => ({ code: 'invalid_dpop_proof', description });

/** Returns a header of a request; a header that came twice has its values separated by commas. */
function headerOf(headers: RequestHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const fields: readonly (readonly [string, unknown])[] = Object.entries(headers);
  const values = fields.flatMap(([field, value]) => (field.toLowerCase() === name ? (value ?? []) : []));
  return values.length === 0 ? null : values.join(', ');
}

/** Returns the URL of a request. Its origin is that of the API: callers write the Host header and may write whole URLs. */
function urlOf({ url = '/', originalUrl = url }: PresentedRequest, origin: string): string {
  const path = originalUrl.startsWith('/') ? originalUrl : (URL.parse(originalUrl)?.pathname ?? '/');
  return origin + path;
}

/** Authorization scheme of a request in lower case; an empty text without one. */
const schemeOf = ({ headers }: PresentedRequest): string =>
  (headerOf(headers, 'authorization') ?? '').split(' ', 1)[0]?.toLowerCase() ?? '';

/**
 * Checks that a request may use an access token: one that is bound to a key needs the scheme `DPoP` and a proof for this
 * request, which counts once, and one that is not bound needs another scheme (RFC 9449, section 7).
 * @param request - `null` if the caller has only the token
 * @param origin - of the API as clients call it
 * @returns `null` if it may
 */
export async function proofProblem(
  core: Core,
  token: Pick<AccessTokenState, 'dpopJkt'>,
  accessToken: string,
  request: PresentedRequest | null,
  origin: string,
): Promise<ProofProblem | null> {
  if (token.dpopJkt === null && !core.options.dpop) return null;
  const hasScheme = request !== null && schemeOf(request) === 'dpop';
  if (token.dpopJkt === null)
    return hasScheme ? wrongToken('is not bound to a key; send it as Bearer.') : null;
  if (!core.options.dpop || !hasScheme)
    return wrongToken('is bound to a key; send it with the scheme DPoP and a proof.');
  const text = headerOf(request.headers, 'dpop');
  if (text === null) return wrongProof('The DPoP proof is missing.');
  const { readProof } = await import('./dpop-proof.ts');
  const proven = { method: request.method ?? 'GET', url: urlOf(request, origin), accessToken };
  const read = await readProof(text, proven, core.clock.now());
  if ('problem' in read) return wrongProof(read.problem);
  if (read.proof.jkt !== token.dpopJkt)
    return wrongProof('The key of the DPoP proof is another one than the access token is bound to.');
  return (await useProof(core, read.proof)) ? null : wrongProof('The DPoP proof was used before.');
}
