import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import type { FapiClient } from '../../support/fapi/clients.ts';
import { newFlow, pushed, scope, thumbprint, visitOf } from '../../support/fapi/requests.ts';
import { callUserinfo, checkUserinfoCall } from '../../support/fapi/resource.ts';
import { signIn } from '../../support/fapi/sign-in.ts';
import { describable } from '../../support/flow.ts';
import { randomText, redirectUriWithQuery, type Suite } from '../../support/suite.ts';
import { checkKeys } from '../discovery.ts';
import { type Module, module } from '../module.ts';

const tlsNote =
  'our module does not check the versions and ciphers of TLS, which are the job of the proxy in front of the provider';

/** Lets the user deny an authorization request, and checks the error that the client gets. */
async function denied(suite: Suite, client: FapiClient, redirectUri: string): Promise<void> {
  const state = randomText(96);
  expect(state).toHaveLength(128);
  const flow = await newFlow(suite, { client, parameters: { redirect_uri: redirectUri, state } });
  const { requestUri } = await pushed(flow);
  const { callback, page } = await suite.visit(visitOf(flow, requestUri), { decision: 'deny' });
  expect(new URL(page.location ?? '').hash).toBe('');
  const { error_description: description = 'none', ...rest } = Object.fromEntries(callback ?? []);
  const registered = Object.fromEntries(new URL(redirectUri).searchParams);
  expect(rest).toEqual({ error: 'access_denied', state, iss: suite.metadata.issuer, ...registered });
  expect(description).toMatch(describable);
}

/** Conformance modules about requests that must succeed, and about users who deny access. */
export const signIns: readonly Module[] = [
  module(
    'fapi2-security-profile-final-happy-flow',
    'whole sign-ins of two clients, one with `dpop_jkt` and a redirect URI with a query; userinfo needs the token in the header and the key of its client',
    async (suite) => {
      await checkKeys(suite);
      const first = await signIn(suite);
      const query = `?access_token=${first.accessToken}`;
      const headers = { changeHeaders: ({ authorization: _, ...rest }: Record<string, string>) => rest };
      expect([400, 401, 414]).toContain((await callUserinfo(first, { query, ...headers })).status);
      for (const accept of ['application/json;charset=UTF-8', 'application/json, application/*+json, */*'])
        checkUserinfoCall(first, await callUserinfo(first, { headers: { accept } }));

      const keys = await oauth.generateKeyPair('ES256');
      const parameters = {
        ...{ redirect_uri: redirectUriWithQuery, dpop_jkt: await thumbprint(keys) },
        ...{ state: randomText(96), nonce: randomText(33).slice(0, 43) },
      };
      const { second: client } = suite.fapi;
      const second = await signIn(suite, { client, keys, parameters, isReversed: true });
      expect((await callUserinfo(second, { keys: first.keys })).status).toBe(401);
    },
    { note: tlsNote },
  ),
  module(
    'fapi2-security-profile-final-user-rejects-authentication',
    'a user who denies access returns to the client with `access_denied` and an unchanged long `state`',
    async (suite) => {
      const [first, second] = suite.fapi.denied;
      await denied(suite, first, first.redirectUri);
      await denied(suite, second, redirectUriWithQuery);
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-authorization-request-without-state-success',
    'a request without `state` succeeds, and the browser returns without a `state`',
    (suite) => signIn(suite, { parameters: { state: undefined } }),
  ),
  module(
    'fapi2-security-profile-final-ensure-authorization-request-without-nonce-success',
    'a request without `nonce` succeeds, and the ID token has no `nonce`',
    (suite) => signIn(suite, { parameters: { nonce: undefined } }),
  ),
  module(
    'fapi2-security-profile-final-ensure-authorization-request-with-64-char-nonce-success',
    'a `nonce` of 64 characters comes back unchanged',
    (suite) => signIn(suite, { parameters: { nonce: randomText(48) } }),
  ),
  module(
    'fapi2-security-profile-final-ensure-other-scope-order-succeeds',
    'the order of scopes does not matter',
    (suite) => signIn(suite, { parameters: { scope: scope.split(' ').toReversed().join(' ') } }),
  ),
  {
    name: 'fapi2-security-profile-final-test-claims-parameter-identity-claims',
    skip: 'the option `claimsParameter` is off, and the metadata says so: the original skips the module',
    holds: ({ metadata }) => metadata.claims_parameter_supported === false,
  },
  module(
    'fapi2-security-profile-final-access-token-type-header-case-sensitivity',
    'userinfo takes the scheme of the `Authorization` header in other upper and lower case',
    async (suite) => {
      const signedIn = await signIn(suite);
      const changeHeaders = ({ authorization = '', ...rest }: Readonly<Record<string, string>>) => ({
        ...rest,
        authorization: authorization.replace(/^DPoP /, 'dpOp '),
      });
      checkUserinfoCall(signedIn, await callUserinfo(signedIn, { changeHeaders }));
    },
  ),
];
