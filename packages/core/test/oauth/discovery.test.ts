import { describe, expect, it } from 'vitest';
import { scopeNames, scopes } from '../../src/index.ts';
import { startProvider } from '../support/running.ts';

const discovery = '/.well-known/openid-configuration';

const ofIdToken = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash'];
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
      revocation_endpoint_auth_methods_supported: ['none'],
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

  it('is made of the options alone, with their path prefixes', async () => {
    const provider = await startProvider({
      authUrl: 'https://id.example/auth/',
      baseUrl: 'https://api.example/public',
      issuer: 'https://issuer.example/tenant',
    });
    const answer = await provider.request('/auth/.well-known/openid-configuration');
    expect(answer.json()).toMatchObject({
      issuer: 'https://issuer.example/tenant',
      authorization_endpoint: 'https://id.example/auth/oauth/authorize',
      jwks_uri: 'https://id.example/auth/.well-known/jwks.json',
      token_endpoint: 'https://api.example/public/v1/oauth/token',
      userinfo_endpoint: 'https://api.example/public/v1/oauth/userinfo',
      revocation_endpoint: 'https://api.example/public/v1/oauth/revoke',
    });
  });

  it('is the same as authorization server metadata (RFC 8414)', async () => {
    const provider = await startProvider();
    const { text } = await provider.request(discovery);
    expect((await provider.request('/.well-known/oauth-authorization-server')).text).toBe(text);
  });

  it('leads to endpoints that are really there', async () => {
    const provider = await startProvider();
    const document = (await provider.request(discovery)).json();
    for (const [name, url] of Object.entries(document)) {
      if (!name.endsWith('_endpoint') && name !== 'jwks_uri') continue;
      expect((await provider.request(String(url))).status, name).not.toBe(404);
    }
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

describe('the key set', () => {
  it('holds one public key for each algorithm and nothing private', async () => {
    const provider = await startProvider();
    const { keys } = (await provider.request('/.well-known/jwks.json')).json() as {
      keys: Record<string, string>[];
    };
    expect(keys.map((key) => key.alg).toSorted()).toEqual(['ES256', 'RS256']);
    for (const key of keys) {
      const members = key.kty === 'RSA' ? ['kty', 'n', 'e'] : ['kty', 'crv', 'x', 'y'];
      expect(Object.keys(key).toSorted()).toEqual([...members, 'kid', 'alg', 'use'].toSorted());
      expect(key.use).toBe('sig');
    }
    expect(Buffer.from(keys.find((key) => key.kty === 'RSA')?.n ?? '', 'base64url').length).toBe(256);
  });
});

describe('an https address behind a proxy that ends TLS', () => {
  it('sends HSTS with every answer', async () => {
    const provider = await startProvider({ authUrl: 'https://id.example', baseUrl: 'https://api.example' });
    for (const path of [discovery, '/nowhere', '/v1/oauth/userinfo', '/account/apps']) {
      const { headers } = await provider.request(path);
      expect(headers.get('strict-transport-security'), path).toMatch(/^max-age=\d{8}/);
    }
  });

  it('runs the whole flow, with the issuer and the addresses of the options', async () => {
    const provider = await startProvider({
      authUrl: 'https://id.example',
      issuer: 'https://issuer.example',
    });
    const client = await provider.client();
    const callback = await provider.authorize(client);
    expect(callback.get('iss')).toBe('https://issuer.example');
    expect(await provider.redeem(client, callback.get('code') ?? '')).toBe('200 ok');
  });
});
