import { calculateJwkThumbprint, EmbeddedJWK, type JWK, type JWTVerifyResult, jwtVerify } from 'jose';
import { z } from 'zod';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import { digest } from '../secrets/tokens.ts';

/** Maximum length of a proof in characters. A proof under an RSA key of 4096 bits has about 2,500. */
const maxProofLength = 4096;

/** Largest difference between the time in a proof and the present, in milliseconds, in either direction. */
const toleranceMs = 60_000;

/** Request that a proof has to name. */
export interface ProvenRequest {
  /** HTTP method, in upper case. */
  readonly method: string;
  /** URL as clients call it. Query and fragment do not count. */
  readonly url: string;
  /** Access token that the proof accompanies; `null` at the token endpoint. */
  readonly accessToken: string | null;
}

/** Proof of possession whose signature and claims are right. Whether it was used before is not checked yet. */
export interface DpopProof {
  /** SHA-256 thumbprint of its key (RFC 7638), base64url. */
  readonly jkt: string;
  /** SHA-256 of its key and its id. */
  readonly idDigest: Uint8Array;
  /** Time until which its id has to be remembered, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Result of reading a proof. The problem is a public text. */
export type ReadProof = { readonly proof: DpopProof } | { readonly problem: string };

const claimsSchema = z.object({
  jti: z.string().min(1),
  htm: z.string(),
  htu: z.string(),
  iat: z.number(),
  ath: z.string().optional(),
});

/** Writes an encoded octet of a path in its normal form (RFC 3986, section 6.2.2). */
function normalizedOctet(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase();
}

/** Writes a URL without query and fragment in its normal form (RFC 9449, section 4.3); `null` if it is no http URL. */
function normalizedUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return url.origin + url.pathname.replaceAll(/%[0-9a-f]{2}/gi, normalizedOctet);
}

/** Verifies the signature with the public key in the header; `null` if it is not right. */
async function verified(text: string, now: number): Promise<JWTVerifyResult | null> {
  // The header that came twice has a comma, and is no JWT.
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

/** Returns the SHA-256 of an access token, as a proof has it in `ath`. */
const tokenHash = (accessToken: string): string => digest(accessToken).toString('base64url');

/** Verifies a proof for a request (RFC 9449, section 4.3). Its single use is the caller's to check. */
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
      // Longer than the proof is accepted, for processes whose clocks differ.
      expiresAt: Math.ceil(iat * 1000) + 2 * toleranceMs,
    },
  };
}
