import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import { answerOf } from '../../../../../packages/core/test/support/browser.ts';
import { expectError } from '../../support/fapi/checks.ts';
import { type FlowOptions, scope } from '../../support/fapi/requests.ts';
import { callUserinfo, checkUserinfoCall } from '../../support/fapi/resource.ts';
import { signIn } from '../../support/fapi/sign-in.ts';
import { checkTokens, refresh, type SignedIn } from '../../support/fapi/tokens.ts';
import { randomText, redirectUriWithQuery, type Suite } from '../../support/suite.ts';
import { type Module, module } from '../module.ts';

/**
 * Refreshes the tokens of a sign-in a second later with a new key for DPoP proofs, and checks the response.
 */
async function refreshed(flow: SignedIn, requested?: string): Promise<SignedIn> {
  flow.suite.clock.advance(1_000);
  const keys = await oauth.generateKeyPair('ES256');
  const sent = requested === undefined ? { keys } : { keys, scope: requested };
  const answer = await answerOf(await refresh(flow, flow.refreshToken, sent));
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(answer.headers.get('cache-control')).toMatch(/(?:^|[\s,])no-store(?:[\s,]|$)/);
  const tokens = answer.json();
  checkTokens(tokens);
  expect(tokens.access_token).not.toBe(flow.accessToken);
  // The profile forbids rotation (section 5.3.2.1), so there is no earlier refresh token to try.
  expect(tokens.refresh_token).toBe(flow.refreshToken);
  const claims = decodeJwt(String(tokens.id_token));
  const { iss, sub, aud, auth_time, azp } = flow.claims;
  expect(claims).toMatchObject({ iss, sub, aud, auth_time });
  expect(claims.azp).toBe(azp);
  expect(claims.iat).not.toBe(flow.claims.iat);
  return { ...flow, keys, accessToken: String(tokens.access_token), claims };
}

/** Signs a user in, and refreshes the tokens. */
async function signedInAndRefreshed(
  suite: Suite,
  options?: FlowOptions,
  requested?: string,
): Promise<SignedIn> {
  const flow = await refreshed(await signIn(suite, options), requested);
  checkUserinfoCall(flow, await callUserinfo(flow));
  return flow;
}

/** Client authentication that adds no credentials to a request. */
const unauthenticated: oauth.ClientAuth = () => undefined;

/** Conformance module about refresh tokens. */
export const refreshing: readonly Module[] = [
  module(
    'fapi2-security-profile-final-refresh-token',
    'a refresh token gives new tokens of the same user and sign-in, with a new key too, but not without an assertion or a proof, and not to another client',
    async (suite) => {
      expect(suite.metadata.grant_types_supported).toContain('refresh_token');
      const first = await signedInAndRefreshed(suite, {}, scope);
      await expectError(
        await refresh(first, first.refreshToken, { scope, authentication: unauthenticated }),
        ...['invalid_client', 'invalid_grant', 'invalid_request'],
      );
      await expectError(
        await refresh(first, first.refreshToken, { scope, keys: null }),
        ...['invalid_request', 'invalid_grant', 'invalid_dpop_proof'],
      );

      const second = await signedInAndRefreshed(suite, {
        client: suite.fapi.second,
        parameters: { redirect_uri: redirectUriWithQuery, state: randomText(96) },
      });
      expect((await callUserinfo(second, { keys: first.keys })).status).toBe(401);
      await expectError(await refresh(first, second.refreshToken), 'invalid_grant');
    },
    { note: 'the clock of the provider is moved on instead of waiting' },
  ),
];
