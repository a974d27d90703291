import { expect } from 'vitest';
import { expectError } from '../../support/fapi/checks.ts';
import { newFlow, push } from '../../support/fapi/requests.ts';
import { signIn } from '../../support/fapi/sign-in.ts';
import { refused } from '../../support/flow.ts';
import { randomText, redirectUri, type Suite } from '../../support/suite.ts';
import { type Module, module } from '../module.ts';

/**
 * Pushes an authorization request with changed parameters, and checks that the response is one of the given
 * errors.
 */
async function refusedPush(
  suite: Suite,
  parameters: Readonly<Record<string, string | undefined>>,
  ...codes: readonly string[]
): Promise<void> {
  await expectError(await push(await newFlow(suite, { parameters })), ...codes);
}

/** Conformance modules about the parameters of authorization requests. */
export const requests: readonly Module[] = [
  module(
    'fapi2-security-profile-final-ensure-different-nonce-inside-and-outside-request-object',
    'another `nonce` beside the pushed request is ignored',
    (suite) => signIn(suite, { outside: { nonce: randomText() } }),
  ),
  module(
    'fapi2-security-profile-final-ensure-different-state-inside-and-outside-request-object',
    'another `state` beside the pushed request is ignored',
    (suite) => signIn(suite, { outside: { state: randomText() } }),
  ),
  module(
    'fapi2-security-profile-final-ensure-authorization-request-with-long-nonce',
    'a `nonce` of 384 characters comes back unchanged',
    (suite) => signIn(suite, { parameters: { nonce: randomText(288) } }),
  ),
  module(
    'fapi2-security-profile-final-ensure-authorization-request-with-long-state',
    'a `state` of 1,000 characters comes back unchanged',
    (suite) => signIn(suite, { parameters: { state: randomText(750) } }),
  ),
  module(
    'fapi2-security-profile-final-state-only-outside-request-object-not-used',
    'a `state` that is not part of the pushed request is ignored',
    (suite) => signIn(suite, { parameters: { state: undefined }, outside: { state: randomText() } }),
  ),
  module(
    'fapi2-security-profile-final-ensure-request-object-without-redirect-uri-fails',
    'a pushed request without a redirect URI is refused',
    (suite) => refusedPush(suite, { redirect_uri: undefined }, 'invalid_request', 'invalid_request_object'),
  ),
  module(
    'fapi2-security-profile-final-plain-fapi-tolerate-unregistered-redirect-uri',
    'a pushed request with a redirect URI that is not registered is refused',
    (suite) =>
      refusedPush(
        suite,
        { redirect_uri: `${redirectUri}/${randomText()}` },
        ...['invalid_request', 'invalid_request_object'],
      ),
  ),
  module(
    'fapi2-security-profile-final-ensure-unsigned-authorization-request-without-using-par-fails',
    'a request that is not pushed returns to the client with `invalid_request`',
    async (suite) => {
      const { parameters } = await newFlow(suite);
      expect(await refused(suite, { ...parameters })).toBe('invalid_request');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-redirect-uri-in-authorization-request',
    'a pushed request must name its redirect URI, and no registered one takes its place',
    (suite) => refusedPush(suite, { redirect_uri: undefined }, 'invalid_request', 'invalid_request_object'),
  ),
  ...['code id_token', 'token'].map((type) =>
    module(
      `fapi2-security-profile-final-ensure-response-type-${type.replace('id_token', 'idtoken').replace(' ', '-')}-fails`,
      `a pushed request with \`response_type=${type}\` is refused`,
      (suite) =>
        refusedPush(
          suite,
          { response_type: type },
          ...['unsupported_response_type', 'invalid_request', 'unauthorized_client'],
        ),
    ),
  ),
];
