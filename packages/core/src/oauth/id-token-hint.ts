import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { verifiableMs } from '../keys/signing-keys.ts';
import type { Core } from '../options/context.ts';

/**
 * Value of `typ` in the header of ID tokens (RFC 7519, section 5.1). Logout tokens have another value, so
 * that they are refused as a hint.
 */
const typ = 'JWT';

/** Content of an ID token of this service that a client sent as a hint. */
export interface IdTokenHint {
  /** Client id of the client that received the ID token. */
  readonly aud: string;
  /**
   * Id of the user in the ID token. `null` if the token is older than a year: its signing key may no longer
   * be kept, and without the key anyone could have forged the token.
   */
  readonly sub: string | null;
}

/**
 * Reads an `id_token_hint`. Accepts expired ID tokens (RP-Initiated Logout 1.0, section 2), and ID tokens
 * signed with keys that no longer sign.
 * @returns the content of the token; `null` if it is not an ID token of this service
 */
export async function readIdTokenHint(core: Core, token: string): Promise<IdTokenHint | null> {
  const now = core.clock.now();
  const { issuer } = core.options;
  const keys = (await core.signingKeys.current()).verifying(now);
  const keySet = createLocalJWKSet({ keys: keys.map(({ publicJwk }) => publicJwk) });
  try {
    const { payload } = await jwtVerify(token, keySet, { typ, issuer, currentDate: new Date(0) });
    return hintOf(payload, isOld(payload, now) ? null : payload.sub);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) return null;
    return isFromForgottenKey(token, issuer, now) ? hintOf(decodeJwt(token), null) : null;
  }
}

/** Checks whether a token is older than a year, which is how long keys are kept after they were replaced. */
function isOld({ iat }: JWTPayload, now: number): boolean {
  return iat !== undefined && iat * 1000 <= now - verifiableMs;
}

/** Checks whether a token claims to be an ID token of this service that is older than a year. */
function isFromForgottenKey(token: string, issuer: string, now: number): boolean {
  try {
    const payload = decodeJwt(token);
    return decodeProtectedHeader(token).typ === typ && payload.iss === issuer && isOld(payload, now);
  } catch {
    return false;
  }
}

function hintOf({ aud }: JWTPayload, sub: string | null | undefined): IdTokenHint | null {
  return typeof aud === 'string' && sub !== undefined ? { aud, sub } : null;
}
