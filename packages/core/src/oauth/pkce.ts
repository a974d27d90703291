import { digest, equalDigests } from '../secrets/tokens.ts';

const challengeFormat = /^[A-Za-z0-9_-]{43}$/;
const verifierFormat = /^[A-Za-z0-9\-._~]{43,128}$/;

/**
 * Checks whether a text has the format of a PKCE challenge with S256: base64url of a SHA-256 (RFC 7636,
 * section 4.2).
 */
export function isCodeChallenge(text: string): boolean {
  return challengeFormat.test(text);
}

/** Checks whether a PKCE verifier is well-formed and matches a challenge (RFC 7636, section 4.6). */
export function verifierMatches(verifier: string, challenge: string): boolean {
  return verifierFormat.test(verifier) && equalDigests(digest(verifier), Buffer.from(challenge, 'base64url'));
}
