import { calculateJwkThumbprint, EmbeddedJWK, type JWK, type JWTVerifyResult, jwtVerify } from 'jose';
import { z } from 'zod';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import { digest } from '../secrets/tokens.ts';

/** Maximum length of a DPoP proof, in characters. A proof with an RSA key of 4,096 bits has about 2,500. */
const maxProofLength = 4096;

/** Largest difference between the time in a proof and now, in either direction, in milliseconds. */
const toleranceMs = 60_000;

/** Request for which a DPoP proof must have been made. */
export interface ProvenRequest {
  /** HTTP method of the request, in upper case. */
  readonly method: string;
  /** URL of the request as clients call it. Query and fragment are ignored. */
  readonly url: string;
  /** Access token sent with the proof; `null` at the token endpoint. */
  readonly accessToken: string | null;
}

/** A DPoP proof with a valid signature and valid claims. May have been used before. */
export interface DpopProof {
  /** SHA-256 thumbprint of the proof's key (RFC 7638), base64url. */
  readonly jkt: string;
  /** SHA-256 of the proof's key and id, which identifies the proof. */
  readonly idDigest: Uint8Array;
  /** Time until which the proof's id must be stored, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Result of verifying a proof. The text of a problem is public. */
export type ReadProof = { readonly proof: DpopProof } | { readonly problem: string };

const claimsSchema = z.object({
  jti: z.string().min(1),
  htm: z.string(),
  htu: z.string(),
  iat: z.number(),
  ath: z.string().optional(),
});

/** Normalizes a percent-encoded octet of a path (RFC 3986, section 6.2.2). */
function normalizedOctet(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase();
}

/**
 * Normalizes a URL and removes its query and fragment (RFC 9449, section 4.3); `null` if it is not an http(s)
 * URL.
 */
function normalizedUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return url.origin + url.pathname.replaceAll(/%[0-9a-f]{2}/gi, normalizedOctet);
}

/** Verifies the signature with the public key in the header; `null` if it is invalid. */
async function verified(text: string, now: number): Promise<JWTVerifyResult | null> {
  // A repeated header arrives joined with a comma, and so does not look like a JWT.
  if (text.length > maxProofLength || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return null;
  try {
    return await jwtVerify(text, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...clientAlgorithms],
      currentDate: new Date(now),
    });
  } catch {
    return null;
  }
}

/** Returns the hash of an access token that a proof has as `ath`: SHA-256, base64url. */
const tokenHash = (accessToken: string): string => digest(accessToken).toString('base64url');

/**
 * Verifies a DPoP proof for a request (RFC 9449, section 4.3). The caller must still check that it is used
 * once.
 */
export async function readProof(text: string, request: ProvenRequest, now: number): Promise<ReadProof> {
  const result = await verified(text, now);
  if (result === null) {
    const algorithms = clientAlgorithms.join(', ');
    return {
      problem: `The DPoP proof has to be one JWT of type dpop+jwt, signed by ${algorithms} with the key of its header jwk.`,
    };
  }
  const claims = claimsSchema.safeParse(result.payload);
  if (!claims.success) return { problem: 'The DPoP proof needs the claims jti, htm, htu and iat.' };
  const { jti, htm, htu, iat, ath } = claims.data;
  if (htm !== request.method) return { problem: 'The htm of the DPoP proof is another method.' };
  if (normalizedUrl(htu) !== normalizedUrl(request.url))
    return { problem: 'The htu of the DPoP proof is another address.' };
  if (!(Math.abs(now - iat * 1000) <= toleranceMs))
    return { problem: 'The iat of the DPoP proof is more than a minute away from now.' };
  if (request.accessToken !== null && ath !== tokenHash(request.accessToken))
    return { problem: 'The ath of the DPoP proof is not the hash of the access token.' };
  const jkt = await calculateJwkThumbprint(result.protectedHeader.jwk as JWK);
  return {
    proof: {
      jkt,
      idDigest: digest(`${jkt} ${jti}`),
      // Stored for longer than the proof is accepted, because clocks of processes differ.
      expiresAt: Math.ceil(iat * 1000) + 2 * toleranceMs,
    },
  };
}
