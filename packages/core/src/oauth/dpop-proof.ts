import { calculateJwkThumbprint, EmbeddedJWK, type JWK, type JWTVerifyResult, jwtVerify } from 'jose';
import { z } from 'zod';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import { digest } from '../secrets/tokens.ts';

/** Maximum length of a DPoP proof, in characters. A proof with an RSA key of 4,096 bits has about 2,000. */
const maxProofLength = 4096;

/**
 * Maximum difference between the time in a DPoP proof and the current time, in either direction, in
 * milliseconds.
 */
const toleranceMs = 60_000;

/** Request for which a DPoP proof must have been made. */
export interface ProvenRequest {
  /** HTTP method of the request, in upper case. */
  readonly method: string;
  /** URL of the request as clients call it. Query and fragment are ignored. */
  readonly url: string;
  /** Access token sent with the proof; `null` at the token endpoint and for pushed authorization requests. */
  readonly accessToken: string | null;
}

/** A DPoP proof whose signature and claims are valid. It may have been used before. */
export interface DpopProof {
  /** SHA-256 thumbprint of the key of a DPoP proof (RFC 7638), base64url. */
  readonly jkt: string;
  /** SHA-256 of a DPoP proof's key and id, which identifies the proof. */
  readonly idDigest: Uint8Array;
  /** Time until which the id of a DPoP proof must be stored, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Result of verifying a DPoP proof. The text of a problem may be sent to the client. */
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
 * Normalizes the URL of a DPoP proof and removes its query and fragment (RFC 9449, section 4.3); `null` if it
 * is not an http(s) URL.
 */
function normalizedUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return url.origin + url.pathname.replaceAll(/%[0-9a-f]{2}/gi, normalizedOctet);
}

/**
 * Verifies the signature of a DPoP proof with the public key in the proof's header; returns `null` if the
 * text is malformed or the signature is invalid.
 */
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

/** Returns the hash of an access token that a DPoP proof contains as `ath`: SHA-256, base64url. */
const tokenHash = (accessToken: string): string => digest(accessToken).toString('base64url');

/**
 * Verifies a DPoP proof for a request (RFC 9449, section 4.3). The caller must still check that the proof was
 * not used before.
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
