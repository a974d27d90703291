import { createHmac, createSecretKey } from 'node:crypto';
import { CompactSign } from 'jose/jws/compact/sign';
import { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Mode } from '../ports/partners.ts';
import { requireUserId } from '../scopes/user-ids.ts';
import { equalDigests } from '../secrets/tokens.ts';
import { goesOn } from '../time/clock.ts';

/** Lifetime of a passport, in milliseconds (specification, "Passport token"). */
export const passportLifetimeMs = 300_000;

/** A passport token with its times of issue and expiry, as returned to the host application. */
export interface IssuedPassport {
  readonly token: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

const header = { alg: 'HS256', typ: 'passport+jwt' } as const;

/**
 * Matches the text of a passport (a JWT). Its header is always the same bytes, so that no header value must
 * be trusted. The signature is checked with Node's crypto and not by jose, because WebCrypto's detour through
 * the thread pool would take longer than the rest of the verification.
 */
const form = new RegExp(
  `^(${Buffer.from(JSON.stringify(header)).toString('base64url')}\\.([A-Za-z0-9_-]+))\\.([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$`,
);

/**
 * Value of the claim `iss` in passports. Passports of other services fail because their keys differ, and
 * other tokens of this service because their issuer differs.
 */
const issuerName = 'ostiary passport';

export type Passports = ReturnType<typeof createPassports>;

/**
 * Creates the functions for passports: short-lived tokens that a user shows to a partner, who has the API
 * verify them. They are signed with keys for this purpose only, derived from the sealing keys. So only this
 * service can verify them, an ID token never passes for one, and every process knows the keys without a
 * database query.
 */
export function createPassports(core: Core) {
  const [signingKey, ...previousKeys] = core.sealer.derive('passports');
  // Key objects, because with plain bytes Node takes several times as long for a digest.
  const keys = [signingKey, ...previousKeys].map((key) => createSecretKey(key));

  function payloadOf(token: string): Record<string, unknown> | null {
    const [, signed, payload, signature] = form.exec(token) ?? [];
    if (signed === undefined || payload === undefined || signature === undefined || token.length > 2048)
      return null;
    const presented = Buffer.from(signature, 'base64url');
    const isOurs = keys.some((key) =>
      equalDigests(createHmac('sha256', key).update(signed).digest(), presented),
    );
    return isOurs
      ? (JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>)
      : null;
  }

  return {
    /** Issues a passport for a user; in `test` mode for a sandbox user. */
    async issue(sub: string, mode: Mode, issuedAt = core.clock.now()): Promise<IssuedPassport> {
      requireUserId(sub);
      const expiresAt = issuedAt + passportLifetimeMs;
      // Keep milliseconds: NumericDate allows fractions (RFC 7519, section 2).
      const claims = {
        iss: issuerName,
        sub,
        mode,
        iat: issuedAt / 1000,
        exp: expiresAt / 1000,
        jti: core.random.bytes(16).toString('base64url'),
      };
      const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
        .setProtectedHeader(header)
        .sign(signingKey);
      return { token, issuedAt: new Date(issuedAt), expiresAt: new Date(expiresAt) };
    },

    /**
     * Verifies a passport and returns the user id that it contains.
     * @throws PartnerError `invalid_request` for an invalid passport or one of the other mode,
     * `token_expired` after five minutes, and for one issued in the future because the clock was set back
     */
    async read(token: string, mode: Mode) {
      const claims = payloadOf(token);
      const genuine =
        claims !== null &&
        claims.iss === issuerName &&
        claims.mode === mode &&
        typeof claims.sub === 'string' &&
        typeof claims.iat === 'number';
      if (!genuine) {
        throw new PartnerError('invalid_request', {
          details: [{ path: 'token', message: 'is not a passport token of this service and mode' }],
        });
      }
      const issuedAt = Math.round(Number(claims.iat) * 1000);
      const expiresAt = issuedAt + passportLifetimeMs;
      // A passport is valid through its last millisecond.
      if (!goesOn(expiresAt + 1, core.clock.now(), passportLifetimeMs))
        throw new PartnerError('token_expired');
      return { sub: String(claims.sub), issuedAt, expiresAt };
    },
  };
}
