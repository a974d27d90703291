import { randomBytes } from 'node:crypto';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL, isoCBOR } from '@simplewebauthn/server/helpers';
import { createProofs, type SigningKeys } from '../sign-in/proofs.ts';
import type { StaffMember, StoredPasskey } from './members.ts';

/** Time in which a browser must respond to a passkey challenge, in milliseconds. */
const challengeLifetimeMs = 5 * 60_000;

/**
 * Algorithms of passkeys: EdDSA, ES256 and RS256, which all devices together know. Others are experimental in
 * Node, and log a warning.
 */
const algorithms = [-8, -7, -257];

/** Purpose of a passkey challenge, which is bound to one browser. */
type Ceremony = 'register' | 'sign-in';

type RegistrationResponse = Parameters<typeof verifyRegistrationResponse>[0]['response'];
type AuthenticationResponse = Parameters<typeof verifyAuthenticationResponse>[0]['response'];

/**
 * Parses the data that the page's script posted; `null` if the data is not a response of the Web
 * Authentication API.
 */
function parseResponse<Response extends { readonly id: string }>(text: string): Response | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const isResponse =
      typeof parsed === 'object' && parsed !== null && 'id' in parsed && 'response' in parsed;
    // Ids are base64url. PostgreSQL cannot look up an id with U+0000.
    const hasId = isResponse && typeof parsed.id === 'string' && /^[\w-]+$/.test(parsed.id);
    return hasId ? (parsed as unknown as Response) : null;
  } catch {
    return null;
  }
}

/**
 * Replaces the attestation statement of a new passkey by none, which this server asks for. The library would
 * check any other one, and request the URLs that the certificates in it name, which anybody can write.
 */
function withoutAttestation(given: RegistrationResponse): RegistrationResponse {
  const { response } = given;
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject)).get('authData');
  const none = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]),
  );
  return { ...given, response: { ...response, attestationObject: isoBase64URL.fromBuffer(none) } };
}

/**
 * Makes and verifies the messages of passkeys. Challenges are signed and bound to the browser's form cookie,
 * so that a page that nobody answers stores nothing. A passkey replaces password and code, so the device must
 * verify its user.
 */
export function createPasskeys(authUrl: string, name: string, keys: SigningKeys, now: () => number) {
  const proofs = createProofs(keys);
  const rpID = new URL(authUrl).hostname;
  const expected = { expectedOrigin: authUrl, expectedRPID: rpID, requireUserVerification: true };

  function newChallenge(ceremony: Ceremony, cookie: string): string {
    const parts = [String(now() + challengeLifetimeMs), randomBytes(16).toString('base64url')] as const;
    return [...parts, proofs.of(ceremony, cookie, ...parts)].join('.');
  }

  /**
   * Returns the time at which a passkey challenge expires; `null` if the challenge has expired, or was not
   * made for this browser and purpose.
   */
  function endOf(challenge: string, ceremony: Ceremony, cookie: string): number | null {
    const [endsAt = '', random = '', proof = ''] = Buffer.from(challenge, 'base64url').toString().split('.');
    if (!proofs.isOf(proof, ceremony, cookie, endsAt, random)) return null;
    return Number(endsAt) > now() ? Number(endsAt) : null;
  }

  return {
    /** Returns the options with which a browser makes a passkey. */
    registration: (member: StaffMember, known: readonly { readonly id: string }[], cookie: string) =>
      generateRegistrationOptions({
        ...{ rpID, rpName: name, userName: member.email, userID: new TextEncoder().encode(member.id) },
        challenge: newChallenge('register', cookie),
        attestationType: 'none',
        supportedAlgorithmIDs: algorithms,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: known.map(({ id }) => ({ id })),
      }),

    /** Verifies a new passkey. Returns `null` if the passkey is not valid for this site and browser. */
    async verifyRegistration(text: string, cookie: string): Promise<StoredPasskey | null> {
      const response = parseResponse<RegistrationResponse>(text);
      if (response === null) return null;
      try {
        const result = await verifyRegistrationResponse({
          ...expected,
          response: withoutAttestation(response),
          supportedAlgorithmIDs: algorithms,
          expectedChallenge: (challenge) => endOf(challenge, 'register', cookie) !== null,
        });
        if (!result.verified || result.registrationInfo === undefined) return null;
        const { id, publicKey, counter } = result.registrationInfo.credential;
        return { id, publicKey, counter };
      } catch {
        return null;
      }
    },

    /** Returns the options with which a browser signs in with any of its passkeys. */
    authentication: (cookie: string) =>
      generateAuthenticationOptions({
        rpID,
        challenge: newChallenge('sign-in', cookie),
        userVerification: 'required',
      }),

    /** Returns the id of the passkey that a response claims to use; `null` if the response is malformed. */
    idIn: (text: string): string | null => parseResponse<AuthenticationResponse>(text)?.id ?? null,

    /**
     * Verifies a sign-in with a passkey. The caller checks that the counter has grown and the challenge is
     * new, and stores both at once.
     * @returns `null` if the signature, site, browser or challenge is wrong
     */
    async verifySignIn(text: string, passkey: StoredPasskey, cookie: string) {
      const response = parseResponse<AuthenticationResponse>(text);
      if (response === null) return null;
      let challenge: { readonly value: string; readonly endsAt: number } | null = null;
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          ...expected,
          response,
          // With a counter of 0 the library does not compare it; see `usePasskey`.
          credential: { id: passkey.id, publicKey: passkey.publicKey, counter: 0 },
          expectedChallenge(value) {
            const endsAt = endOf(value, 'sign-in', cookie);
            challenge = endsAt === null ? null : { value, endsAt };
            return endsAt !== null;
          },
        });
        if (!verified || challenge === null) return null;
        return { counter: authenticationInfo.newCounter, challenge };
      } catch {
        return null;
      }
    },
  };
}
