import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import { expectError } from '../../support/fapi/checks.ts';
import { approved, type Change, signedBy } from '../../support/fapi/requests.ts';
import { callUserinfo } from '../../support/fapi/resource.ts';
import { signIn } from '../../support/fapi/sign-in.ts';
import { exchange } from '../../support/fapi/tokens.ts';
import type { Suite } from '../../support/suite.ts';
import { type Module, module, type RunModule } from '../module.ts';

/**
 * Makes the check of a conformance module that exchanges a code with a client assertion whose claims are
 * changed: the exchange must be refused.
 */
const refusedAssertion =
  (changeOf: (suite: Suite) => Change): RunModule['run'] =>
  async (suite) => {
    const authentication = signedBy(suite.fapi.first, changeOf(suite));
    await expectError(await exchange(await approved(suite), { authentication }), 'invalid_client');
  };

/** Returns the authentication of a client whose RSA key signs with RS256. */
async function signedByRs256({ first }: Suite['fapi']): Promise<oauth.ClientAuth> {
  const { privateJwk } = first.key;
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('jwk', privateJwk as JsonWebKey, algorithm, false, ['sign']);
  return oauth.PrivateKeyJwt({ key, kid: privateJwk.kid ?? '' });
}

/** Conformance modules about requests that the token endpoint must refuse. */
export const tokens: readonly Module[] = [
  module(
    'fapi2-security-profile-final-ensure-client-id-in-token-endpoint',
    'an assertion in the name of another client is refused',
    async (suite) => {
      const { first, second } = suite.fapi;
      const response = await exchange(await approved(suite), {
        client: second,
        authentication: signedBy(first),
      });
      await expectError(response, 'invalid_client', 'invalid_grant');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-holder-of-key-required',
    'a code is refused without a DPoP proof',
    async (suite) => {
      const response = await exchange(await approved(suite), { keys: null });
      await expectError(response, 'invalid_request', 'invalid_grant', 'invalid_dpop_proof');
    },
    {
      note: 'our module does not check the versions and ciphers of TLS, which are the job of the proxy in front of the provider',
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-authorization-code-is-bound-to-client',
    'a code of one client is refused for another client with its own assertion',
    async (suite) => {
      const response = await exchange(await approved(suite), { client: suite.fapi.second });
      await expectError(response, 'invalid_grant');
    },
  ),
  module(
    'fapi2-security-profile-final-attempt-reuse-authorization-code-after-one-second',
    'a code that is used again after a second is refused, and its access token stops working',
    async (suite) => {
      const signedIn = await signIn(suite);
      suite.clock.advance(1_000);
      await expectError(await exchange(signedIn), 'invalid_grant');
      expect((await callUserinfo(signedIn)).status).toBe(401);
    },
    { note: 'the clock of the provider is moved on instead of waiting' },
  ),
  module(
    'fapi2-security-profile-final-ensure-token-endpoint-fails-with-expired-auth-code',
    'a code that is used for the first time after 62 seconds is refused',
    async (suite) => {
      const flow = await approved(suite);
      suite.clock.advance(62_000);
      await expectError(await exchange(flow), 'invalid_grant');
    },
    { note: 'the clock of the provider is moved on instead of waiting' },
  ),
  module(
    'fapi2-security-profile-final-ensure-signed-client-assertion-with-RS256-fails',
    'an assertion that is signed by RS256 is refused',
    async (suite) => {
      const authentication = await signedByRs256(suite.fapi);
      await expectError(await exchange(await approved(suite), { authentication }), 'invalid_client');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-client-assertion-in-token-endpoint',
    'a request without an assertion is refused',
    async (suite) => {
      const response = await exchange(await approved(suite), { authentication: oauth.None() });
      await expectError(response, 'invalid_client', 'invalid_request');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-client-assertion-with-exp-is-5-minutes-in-past-fails',
    'an assertion that expired 5 minutes ago is refused',
    refusedAssertion(({ clock }) => (_header, claims) => {
      claims.exp = Math.floor(clock.now() / 1000) - 300;
    }),
  ),
  module(
    'fapi2-security-profile-final-ensure-client-assertion-with-wrong-aud-fails',
    'an assertion for another server is refused',
    refusedAssertion(() => (_header, claims) => {
      claims.aud = 'https://other.example/v1/oauth/userinfo';
    }),
  ),
  module(
    'fapi2-security-profile-final-ensure-client-assertion-with-no-sub-fails',
    'an assertion without `sub` is refused',
    refusedAssertion(() => (_header, claims) => {
      claims.sub = undefined;
    }),
  ),
];
