import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import { urlBelow } from '../text/urls.ts';
import type { DpopProof } from './dpop-proof.ts';
import type { ProofChecks } from './dpop-resource.ts';
import { apiPaths } from './endpoints.ts';

/** Reads and verifies the DPoP proof of a POST request; `null` if the request has none, or if the option `dpop` is off. */
export type RequestProof = (ctx: Context) => Promise<DpopProof | null>;

/** Creates the reader of DPoP proofs for requests to an endpoint. Its code is loaded only if the option `dpop` is on. */
export async function requestProof(
  { options, clock }: Core,
  endpoint: 'token' | 'par',
): Promise<RequestProof> {
  if (!options.dpop) return async () => null;
  const { readProof } = await import('./dpop-proof.ts');
  const url = urlBelow(options.baseUrl, apiPaths[endpoint]);

  /**
   * Reads and verifies the DPoP proof of a request; `null` if the request has none. @throws OAuthError
   * `invalid_dpop_proof`
   */
  return async ({ req }) => {
    const { dpop } = req.headers;
    if (dpop === undefined) return null;
    const read = await readProof(String(dpop), { method: 'POST', url, accessToken: null }, clock.now());
    if ('problem' in read) throw new OAuthError('invalid_dpop_proof', read.problem);
    return read.proof;
  };
}

/** Marks a DPoP proof as used. Returns `false` if it was used before. */
function useProof({ storage, clock }: Core, { idDigest, expiresAt }: DpopProof): Promise<boolean> {
  return storage.proofIds.use({ namespace: 'dpop', digest: idDigest, expiresAt, now: clock.now() });
}

/**
 * Returns the checks for DPoP proofs that come with access tokens, for userinfo and for APIs of the host
 * application.
 */
export function proofChecks(core: Core): ProofChecks {
  const { options, clock } = core;
  return { takesDpop: options.dpop, clock, useProof: (proof) => useProof(core, proof) };
}

/**
 * Checks that a token request has the DPoP proof that the client's settings, and the code or refresh token,
 * require.
 * @param boundTo - thumbprint of the key to which the code or refresh token is bound; `null` if it is not bound
 * @throws OAuthError if the proof is missing or has another key
 */
export function requireProof(
  client: Pick<ClientRecord, 'requireDpop'>,
  boundTo: string | null,
  proof: DpopProof | null,
): void {
  if (proof === null && client.requireDpop === true)
    throw new OAuthError('invalid_dpop_proof', 'This client has to send a DPoP proof.');
  if (boundTo === null) return;
  if (proof === null)
    throw new OAuthError(
      'invalid_dpop_proof',
      'The code or refresh token is bound to a key: a DPoP proof is missing.',
    );
  if (proof.jkt !== boundTo)
    throw new OAuthError(
      'invalid_grant',
      'The code or refresh token is bound to another key than that of the DPoP proof.',
    );
}

/**
 * Marks the DPoP proof of a token request or a pushed request as used, before its result is stored.
 * @throws OAuthError `invalid_dpop_proof` if it was used before
 */
export async function requireFirstUse(core: Core, proof: DpopProof): Promise<void> {
  if (await useProof(core, proof)) return;
  throw new OAuthError('invalid_dpop_proof', 'The DPoP proof was used before.');
}

/**
 * Returns the parameters of a pushed request with the key of the request's DPoP proof as `dpop_jkt` (RFC
 * 9449, section 10.1).
 * @throws OAuthError `invalid_dpop_proof` if `dpop_jkt` names another key
 */
export function boundToProof<Name extends string>(
  parameters: ReadonlyMap<Name | 'dpop_jkt', string>,
  proof: DpopProof | null,
): ReadonlyMap<Name | 'dpop_jkt', string> {
  if (proof === null) return parameters;
  const { jkt } = proof;
  if ((parameters.get('dpop_jkt') ?? jkt) !== jkt)
    throw new OAuthError(
      'invalid_dpop_proof',
      'The parameter dpop_jkt names another key than that of the DPoP proof.',
    );
  return new Map([...parameters, ['dpop_jkt', jkt]]);
}

/**
 * Returns the thumbprint of the key to which a grant's refresh tokens are bound; `null` if they are not
 * bound. Only refresh tokens of public clients are bound (RFC 9449, section 5).
 */
export function refreshBinding(client: ClientRecord, grant: Pick<GrantState, 'dpopJkt'>): string | null {
  return isPublicClient(client) ? grant.dpopJkt : null;
}
