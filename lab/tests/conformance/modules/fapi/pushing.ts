import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import { expectError } from '../../support/fapi/checks.ts';
import {
  approved,
  approvedBy,
  type Change,
  newFlow,
  push,
  pushed,
  signedBy,
  visitOf,
} from '../../support/fapi/requests.ts';
import { callUserinfo, checkUserinfoCall } from '../../support/fapi/resource.ts';
import { signIn } from '../../support/fapi/sign-in.ts';
import { exchange, signedInWith } from '../../support/fapi/tokens.ts';
import type { Suite } from '../../support/suite.ts';
import { type Module, module, type RunModule } from '../module.ts';

/**
 * Makes the check of a conformance module that pushes an authorization request with a client assertion whose
 * claims are changed: the request must be refused.
 */
const refusedAssertion =
  (changeOf: (suite: Suite) => Change): RunModule['run'] =>
  async (suite) => {
    const authentication = signedBy(suite.fapi.first, changeOf(suite));
    await expectError(
      await push(await newFlow(suite), { authentication }),
      ...['invalid_request', 'invalid_client'],
    );
  };

/** Moves the times of a client assertion on by some seconds. */
const later =
  (seconds: number, names: readonly string[]): Change =>
  (_header, claims) => {
    for (const name of names) claims[name] = Number(claims[name]) + seconds;
  };

/** Checks that the reference to a pushed request leads to an error page, and never to the client. */
async function refusedReference(
  suite: Suite,
  parameters: Readonly<Record<string, string>>,
  { code = 'invalid_request_uri', browser = suite.newBrowser() } = {},
): Promise<void> {
  const { callback, page } = await suite.visit({ ...parameters }, { browser });
  expect(callback).toBeNull();
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page.outcome).toBe(`400 ${code}`);
}

/** Finishes a sign-in whose request the user has approved. */
async function finish(flow: Parameters<typeof exchange>[0]): Promise<void> {
  const signedIn = await signedInWith(flow, await exchange(flow));
  checkUserinfoCall(signedIn, await callUserinfo(signedIn));
}

const screenshot = { review: 'the original asks for a screenshot of the page' };

/** Conformance modules about pushed authorization requests, and about the references to them. */
export const pushing: readonly Module[] = [
  module(
    'fapi2-security-profile-final-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds',
    'a pushed request can be opened twice until the user has decided',
    async (suite) => {
      const browser = suite.newBrowser();
      const flow = await newFlow(suite);
      const parameters = visitOf(flow, (await pushed(flow)).requestUri);
      const first = await browser.get(
        `${suite.endpoint('authorization')}?${new URLSearchParams(parameters)}`,
      );
      expect(first.callback.has('code')).toBe(false);
      await finish(approvedBy(flow, await suite.visit(parameters, { browser })));
    },
  ),
  module(
    'fapi2-security-profile-final-par-attempt-reuse-request_uri',
    'a pushed request leads to an error page after the user has decided',
    async (suite) => {
      const browser = suite.newBrowser();
      const flow = await newFlow(suite);
      const parameters = visitOf(flow, (await pushed(flow)).requestUri);
      await finish(approvedBy(flow, await suite.visit(parameters, { browser })));
      // The browser gets to the page of the first visit, which says that it is over.
      await refusedReference(suite, parameters, { code: 'invalid_request', browser });
    },
    screenshot,
  ),
  module(
    'fapi2-security-profile-final-par-attempt-to-use-expired-request_uri',
    'a pushed request leads to an error page after its lifetime',
    async (suite) => {
      const flow = await newFlow(suite);
      const { requestUri, expiresIn } = await pushed(flow);
      suite.clock.advance((expiresIn + 1) * 1000);
      await refusedReference(suite, visitOf(flow, requestUri));
    },
    screenshot,
  ),
  module(
    'fapi2-security-profile-final-par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted',
    'an assertion from a clock that is 8 seconds fast is accepted',
    async (suite) => {
      const authentication = signedBy(suite.fapi.first, later(8, ['iat', 'nbf']));
      await finish(await approved(suite, { authentication }));
    },
  ),
  module(
    'fapi2-security-profile-final-par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails',
    'an assertion from a clock that is 62 seconds fast is refused',
    refusedAssertion(() => later(62, ['iat', 'nbf', 'exp'])),
  ),
  module(
    'fapi2-security-profile-final-par-attempt-to-use-request_uri-for-different-client',
    'a pushed request leads to an error page for another client',
    async (suite) => {
      const flow = await newFlow(suite);
      const { requestUri } = await pushed(flow);
      await refusedReference(suite, { ...visitOf(flow, requestUri), client_id: suite.fapi.second.id });
    },
    screenshot,
  ),
  module(
    'fapi2-security-profile-final-par-authorization-request-containing-request_uri-form-param',
    'a request that refers to another one cannot be pushed',
    async (suite) => {
      const parameters = { request_uri: 'urn:ietf:params:oauth:request_uri:any' };
      await expectError(
        await push(await newFlow(suite, { parameters })),
        ...['invalid_request', 'invalid_request_object', 'request_uri_not_supported'],
      );
    },
  ),
  module(
    'fapi2-security-profile-final-par-attempt-invalid-http-method',
    'PUT is not allowed at the endpoint for pushed requests',
    async (suite) => {
      const { status } = await suite.ask(suite.endpoint('pushed_authorization_request'), {
        ...{ method: 'PUT', body: new URLSearchParams((await newFlow(suite)).parameters) },
      });
      expect(status).toBe(405);
    },
  ),
  module(
    'fapi2-security-profile-final-par-ensure-pkce-required',
    'a pushed request without PKCE is refused',
    async (suite) => {
      const parameters = { code_challenge: undefined, code_challenge_method: undefined };
      await expectError(await push(await newFlow(suite, { parameters })), 'invalid_request');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-pkce-code-verifier-required',
    'a code is refused without `code_verifier`',
    async (suite) =>
      expectError(await exchange(await approved(suite), { verifier: oauth.nopkce }), 'invalid_grant'),
  ),
  module(
    'fapi2-security-profile-final-incorrect-pkce-code-verifier-rejected',
    'a code is refused with another `code_verifier`',
    async (suite) => {
      const verifier = oauth.generateRandomCodeVerifier();
      await expectError(await exchange(await approved(suite), { verifier }), 'invalid_grant');
    },
  ),
  module(
    'fapi2-security-profile-final-par-plain-pkce-rejected',
    'a pushed request with `code_challenge_method=plain` is refused',
    async (suite) => {
      const verifier = oauth.generateRandomCodeVerifier();
      const parameters = { code_challenge: verifier, code_challenge_method: 'plain' };
      await expectError(await push(await newFlow(suite, { parameters })), 'invalid_request');
    },
  ),
  module(
    'fapi2-security-profile-final-par-without-duplicate-parameters',
    '`client_id` and `request_uri` are enough at the authorization endpoint',
    (suite) => signIn(suite, { isBare: true }),
  ),
  module(
    'fapi2-security-profile-final-par-test-array-as-audience-fails',
    'an assertion with a list of audiences is refused',
    refusedAssertion(({ server }) => (_header, claims) => {
      claims.aud = [server.issuer, server.token_endpoint ?? ''];
    }),
  ),
  ...(['par', 'token'] as const).map((name) =>
    module(
      `fapi2-security-profile-final-par-test-${name}-endpoint-url-as-audience-fails`,
      `an assertion with the URL of the ${name === 'par' ? 'endpoint for pushed requests' : 'token endpoint'} as audience is refused`,
      refusedAssertion((suite) => (_header, claims) => {
        claims.aud = suite.endpoint(name === 'par' ? 'pushed_authorization_request' : 'token');
      }),
    ),
  ),
];
