import { hash } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Core } from '../context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { GrantState } from '../ports/grants.ts';
import { issuerOf } from './endpoints.ts';
import { accessTokenSeconds } from './lifetimes.ts';

/** The left half of the token's SHA-256 (OpenID Connect Core, section 3.1.3.6; both algorithms use SHA-256). */
function accessTokenHash(accessToken: string): string {
  return hash('sha256', accessToken, 'buffer').subarray(0, 16).toString('base64url');
}

/** Signs an ID token (OpenID Connect Core, section 2). It says who signed in, when and for whom; identity fields come from userinfo. */
export async function signIdToken(
  core: Core,
  { client, grant, accessToken, now }: { client: ClientRecord; grant: GrantState; accessToken: string; now: number },
): Promise<string> {
  const key = (await core.signingKeys.current()).signing(client.idTokenAlg, now);
  const issuedAt = Math.floor(now / 1000);
  return new SignJWT({
    iss: issuerOf(core.options),
    sub: grant.sub,
    aud: client.clientId,
    exp: issuedAt + accessTokenSeconds,
    iat: issuedAt,
    auth_time: Math.floor(grant.authenticatedAt / 1000),
    ...(grant.nonce === null ? {} : { nonce: grant.nonce }),
    at_hash: accessTokenHash(accessToken),
  })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT' })
    .sign(key.privateKey);
}
