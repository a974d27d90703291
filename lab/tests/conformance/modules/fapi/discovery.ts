import { expect } from 'vitest';
import { permittedAlgorithms } from '../../support/fapi/tokens.ts';
import { checkMetadata } from '../discovery.ts';
import { type Module, module } from '../module.ts';

const url = expect.stringMatching(/^https:\/\//);
const texts = expect.arrayContaining([expect.any(String)]);

/**
 * Registered members that the provider's metadata may have, with their types. The original conformance suite
 * warns of other members. The original's own list also has members that this provider does not publish.
 */
const members: Readonly<Record<string, unknown>> = {
  ...{ issuer: url, authorization_endpoint: url, token_endpoint: url, userinfo_endpoint: url, jwks_uri: url },
  ...{ pushed_authorization_request_endpoint: url, revocation_endpoint: url, end_session_endpoint: url },
  ...{ introspection_endpoint: url, service_documentation: url, op_policy_uri: url, op_tos_uri: url },
  ...{ scopes_supported: texts, claims_supported: texts, claim_types_supported: texts },
  ...{ response_types_supported: texts, response_modes_supported: texts, grant_types_supported: texts },
  ...{ subject_types_supported: texts, ui_locales_supported: texts, prompt_values_supported: texts },
  ...{ code_challenge_methods_supported: texts, id_token_signing_alg_values_supported: texts },
  ...{ token_endpoint_auth_methods_supported: texts, revocation_endpoint_auth_methods_supported: texts },
  ...{ token_endpoint_auth_signing_alg_values_supported: texts, dpop_signing_alg_values_supported: texts },
  revocation_endpoint_auth_signing_alg_values_supported: texts,
  ...{ claims_parameter_supported: expect.any(Boolean), request_parameter_supported: expect.any(Boolean) },
  request_uri_parameter_supported: expect.any(Boolean),
  require_pushed_authorization_requests: expect.any(Boolean),
  authorization_response_iss_parameter_supported: expect.any(Boolean),
  backchannel_logout_supported: expect.any(Boolean),
  backchannel_logout_session_supported: expect.any(Boolean),
};

/**
 * Metadata lists of which the FAPI 2.0 profile permits only some algorithms, and of which it requires one.
 */
const algorithmLists = [
  'dpop_signing_alg_values_supported',
  'id_token_signing_alg_values_supported',
  'token_endpoint_auth_signing_alg_values_supported',
];

/** Conformance module about the provider's metadata. */
export const discovery: readonly Module[] = [
  module(
    'fapi2-security-profile-final-discovery-end-point-verification',
    'the metadata promises what the profile requires, with registered members of the right types',
    async (suite) => {
      await checkMetadata(suite);
      const { metadata } = suite;
      for (const [name, value] of Object.entries(metadata)) expect(value, name).toEqual(members[name]);
      for (const name of algorithmLists) expect(metadata[name], name).toEqual(expect.toSatisfy(permitsOne));
      expect(metadata.authorization_response_iss_parameter_supported).toBe(true);
      expect(metadata.pushed_authorization_request_endpoint).toEqual(url);
      expect(metadata.token_endpoint_auth_methods_supported).toContain('private_key_jwt');
    },
  ),
];

/** Checks that a metadata list has an algorithm that the FAPI 2.0 profile permits. */
function permitsOne(list: unknown): boolean {
  return Array.isArray(list) && list.some((name) => permittedAlgorithms.includes(name));
}
