import { clientAlgorithms } from '../keys/client-algorithms.ts';
import type { RefusedToken } from '../oauth/token-checks.ts';
import type { ResourceAnswer } from './requests.ts';

/**
 * Reason for refusing a request: a reason that concerns its token, or `missing` (no token), `inactive` (the
 * authorization server does not accept the token and gives no reason), or `unavailable` (the token could not
 * be checked).
 */
export type RefusalReason = RefusedToken['reason'] | 'missing' | 'inactive' | 'unavailable';

/** A request that was refused: the reason, for a log, and the response to send. */
export interface RefusedRequest extends ResourceAnswer {
  readonly active: false;
  readonly reason: RefusalReason;
}

const descriptions: { readonly [Reason in RefusalReason]: string } = {
  missing: 'The access token is missing.',
  malformed: 'The access token is malformed.',
  unknown: 'The access token is not known.',
  inactive: 'The access token is not active.',
  expired: 'The access token expired.',
  revoked: 'The access token was revoked.',
  wrong_audience: 'The access token was issued for another resource.',
  insufficient_scope: 'The access token lacks a scope.',
  invalid_dpop_proof: 'The access token is bound to a key, and its DPoP proof is missing or wrong.',
  unavailable: 'The access token cannot be checked at the moment.',
};

function errorOf(reason: RefusalReason): string {
  if (reason === 'unavailable') return 'temporarily_unavailable';
  return reason === 'insufficient_scope' || reason === 'invalid_dpop_proof' ? reason : 'invalid_token';
}

/**
 * Formats the header `WWW-Authenticate` (RFC 6750, section 3; RFC 9728, section 5.1). If the request had no
 * token, the header has no error code, because the client may not have known that the resource is protected.
 * @param scopes - scopes that the client has to request
 */
function challenge(reason: RefusalReason, scopes: readonly string[], metadataUrl: string): string {
  const parameters = [
    ...(reason === 'missing'
      ? []
      : [`error="${errorOf(reason)}"`, `error_description="${descriptions[reason]}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    `resource_metadata="${metadataUrl}"`,
  ];
  // Required by RFC 9449, section 7.1.
  if (reason === 'invalid_dpop_proof')
    return `DPoP ${parameters.join(', ')}, algs="${clientAlgorithms.join(' ')}"`;
  return `Bearer ${parameters.join(', ')}`;
}

/**
 * Creates the response to a refused request: 401, 403 for a missing scope, or 503 if the token could not be
 * checked.
 */
export function refusal(
  reason: RefusalReason,
  scopes: readonly string[],
  metadataUrl: string,
): RefusedRequest {
  const isUnavailable = reason === 'unavailable';
  const authenticate: { readonly [name: string]: string } = isUnavailable
    ? { 'Retry-After': '5' }
    : { 'WWW-Authenticate': challenge(reason, scopes, metadataUrl) };
  const body = { error: errorOf(reason), error_description: descriptions[reason] };
  const refusedStatus = reason === 'insufficient_scope' ? 403 : 401;
  return {
    active: false,
    reason,
    status: isUnavailable ? 503 : refusedStatus,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...authenticate },
    body: JSON.stringify(body),
  };
}
