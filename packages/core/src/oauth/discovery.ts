import type { Handler } from '../http/route.ts';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import { signingAlgorithms } from '../keys/signing-keys.ts';
import type { Core } from '../options/context.ts';
import { urlBelow } from '../text/urls.ts';
import { promptValues } from './authorize-request.ts';
import { apiPaths, authPaths } from './endpoints.ts';
import { idTokenClaims, signInClaims } from './id-token.ts';

/**
 * Returns the metadata document (OpenID Connect Discovery 1.0, section 3; RFC 8414), which depends on the
 * options alone.
 */
function discoveryDocument({ options }: Core): object {
  const { authUrl, baseUrl, claimsParameter, dpop, introspection, issuer, login, scopes } = options;
  const { privateKeyJwt, pushedRequests, refreshTokens, resources } = options;
  const keyMethods = privateKeyJwt ? ['private_key_jwt'] : [];
  const secretMethods = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer,
    authorization_endpoint: urlBelow(authUrl, authPaths.authorize),
    token_endpoint: urlBelow(baseUrl, apiPaths.token),
    userinfo_endpoint: urlBelow(baseUrl, apiPaths.userinfo),
    revocation_endpoint: urlBelow(baseUrl, apiPaths.revoke),
    jwks_uri: urlBelow(authUrl, authPaths.jwks),
    scopes_supported: scopes.names,
    ...(resources && { protected_resources: resources.uris }),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', ...(refreshTokens ? ['refresh_token'] : [])],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: signingAlgorithms,
    token_endpoint_auth_methods_supported: [...secretMethods, 'none', ...keyMethods],
    ...(privateKeyJwt && { token_endpoint_auth_signing_alg_values_supported: clientAlgorithms }),
    revocation_endpoint_auth_methods_supported: [...secretMethods, 'none', ...keyMethods],
    ...(privateKeyJwt && { revocation_endpoint_auth_signing_alg_values_supported: clientAlgorithms }),
    ...(introspection && {
      introspection_endpoint: urlBelow(baseUrl, apiPaths.introspect),
      introspection_endpoint_auth_methods_supported: [...secretMethods, ...keyMethods],
      ...(privateKeyJwt && { introspection_endpoint_auth_signing_alg_values_supported: clientAlgorithms }),
    }),
    ...(pushedRequests && {
      pushed_authorization_request_endpoint: urlBelow(baseUrl, apiPaths.par),
      require_pushed_authorization_requests: pushedRequests.required,
    }),
    ...(login.signOut && {
      end_session_endpoint: urlBelow(authUrl, authPaths.logout),
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    }),
    ...(options.clientMetadataDocuments && { client_id_metadata_document_supported: true }),
    code_challenge_methods_supported: ['S256'],
    ...(dpop && { dpop_signing_alg_values_supported: clientAlgorithms }),
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: promptValues,
    ui_locales_supported: options.languages.map(({ tag }) => tag),
    claim_types_supported: ['normal'],
    claims_supported: [
      ...new Set([
        ...idTokenClaims,
        ...(login.acrValues === undefined ? [] : signInClaims),
        ...scopes.names.flatMap((scope) => scopes.claimsOf(scope).map(({ name }) => name)),
      ]),
    ],
    claims_parameter_supported: claimsParameter,
    ...(login.acrValues && { acr_values_supported: login.acrValues }),
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

/**
 * Creates the handler of the metadata document, which is serialized once because it depends on the options
 * alone.
 */
export function discoveryHandler(core: Core): Handler {
  const body = JSON.stringify(discoveryDocument(core));
  return (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.type = 'application/json';
    ctx.body = body;
  };
}

/** Creates the handler of the public signing keys, the JWK Set (RFC 7517, section 5). */
export function jwksHandler(core: Core): Handler {
  return async (ctx) => {
    const keys = (await core.signingKeys.current()).published(core.clock.now());
    ctx.set('Cache-Control', 'public, max-age=60');
    ctx.type = 'application/json';
    ctx.body = JSON.stringify({ keys: keys.map((key) => key.publicJwk) });
  };
}
