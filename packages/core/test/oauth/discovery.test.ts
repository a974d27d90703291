import { describe, expect, it } from 'vitest';
import { scopeNames, scopes } from '../../src/index.ts';
import { startProvider } from '../support/running.ts';

const discovery = '/.well-known/openid-configuration';

const ofIdToken = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', 'sid'];
const ofScopes = scopeNames.flatMap((name) => Object.keys(scopes[name].fields));

describe('the discovery document', () => {
  it('says exactly what this service does', async () => {
    const provider = await startProvider();
    const { origin } = provider;
    const answer = await provider.request(discovery);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json()).toEqual({
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/v1/oauth/token`,
      userinfo_endpoint: `${origin}/v1/oauth/userinfo`,
      revocation_endpoint: `${origin}/v1/oauth/revoke`,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      scopes_supported: scopeNames,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      prompt_values_supported: ['none', 'login', 'consent'],
      ui_locales_supported: ['en', 'fr'],
      claim_types_supported: ['normal'],
      claims_supported: [...new Set([...ofIdToken, ...ofScopes])],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
  });

  it('is made of the options alone, with their path prefixes, and is authorization server metadata too', async () => {
    const provider = await startProvider({
      authUrl: 'https://id.example/auth/',
      baseUrl: 'https://api.example/public',
      issuer: 'https://issuer.example/tenant',
    });
    const answer = await provider.request('/auth/.well-known/openid-configuration');
    // Metadata of RFC 8414.
    const metadata = await provider.request('/auth/.well-known/oauth-authorization-server');
    expect(metadata.text).toBe(answer.text);
    expect(answer.json()).toMatchObject({
      issuer: 'https://issuer.example/tenant',
      authorization_endpoint: 'https://id.example/auth/oauth/authorize',
      jwks_uri: 'https://id.example/auth/.well-known/jwks.json',
      token_endpoint: 'https://api.example/public/v1/oauth/token',
      userinfo_endpoint: 'https://api.example/public/v1/oauth/userinfo',
      revocation_endpoint: 'https://api.example/public/v1/oauth/revoke',
    });
  });

  it.each([
    ['https://id.example', 'https://id.example', discovery],
    ['https://id.example/', 'https://id.example', discovery],
    ['https://id.example/tenant', 'https://id.example/tenant', `/tenant${discovery}`],
  ])('writes the issuer %s as %s, and is found below it', async (issuer, written, path) => {
    const provider = await startProvider({ authUrl: 'https://id.example/auth', issuer });
    expect((await provider.request(path)).json().issuer).toBe(written);
  });
});

it('the key set holds one public key for each algorithm and nothing private', async () => {
  const provider = await startProvider();
  const { keys } = (await provider.request('/.well-known/jwks.json')).json();
  const base64url = expect.stringMatching(/^[\w-]{43,}$/);
  const shared = { kid: expect.any(String), use: 'sig' };
  // RSA modulus of 2048 bits.
  const n = expect.stringMatching(/^[\w-]{342}$/);
  expect(keys).toHaveLength(2);
  expect(keys).toContainEqual({ ...shared, kty: 'RSA', alg: 'RS256', n, e: 'AQAB' });
  expect(keys).toContainEqual({
    ...shared,
    kty: 'EC',
    alg: 'ES256',
    crv: 'P-256',
    x: base64url,
    y: base64url,
  });
});
