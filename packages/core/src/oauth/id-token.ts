import { CompactSign } from 'jose';
import type { Core } from '../context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import { issuerOf } from './endpoints.ts';
import { accessTokenSeconds } from './lifetimes.ts';

/** OpenID Connect Core, section 2: who signed in, when and for whom; identity fields come from userinfo. */
export async function signIdToken(
  core: Core,
  {
    client,
    grant,
    tokenDigest,
    now,
  }: { client: ClientRecord; grant: GrantState; tokenDigest: Buffer; now: number },
): Promise<string> {
  const key = (await core.signingKeys.current()).signing(client.idTokenAlg, now);
  const issuedAt = Math.floor(now / 1000);
  const claims = JSON.stringify({
    iss: issuerOf(core.options),
    sub: grant.sub,
    aud: client.clientId,
    exp: issuedAt + accessTokenSeconds,
    iat: issuedAt,
    auth_time: Math.floor(grant.authenticatedAt / 1000),
    ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
    // The left half of the token's SHA-256 (section 3.1.3.6; both algorithms use SHA-256).
    at_hash: tokenDigest.toString('base64url', 0, 16),
  });
  // Not SignJWT: the claims are complete already, and it would copy and check them first, 5 µs on every
  // exchange.
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT' })
    .sign(key.privateJwk);
}
