import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { scopeFields } from '../support/directory.ts';
import { TestProvider } from '../support/provider.ts';

const running: TestProvider[] = [];

async function start(options: Partial<OstiaryOptions>): Promise<TestProvider> {
  const provider = await TestProvider.start(options);
  running.push(provider);
  return provider;
}

afterEach(() => Promise.all(running.splice(0).map((provider) => provider.stop())));

/** A GET with headers that `fetch` would not let pass, and any request target. */
function rawGet(origin: string, target: string, headers: Record<string, string>): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: target, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    request.on('error', reject).end();
  });
}

describe('the discovery document', () => {
  it('says exactly what this service does', async () => {
    const provider = await start({});
    const { origin } = provider;
    const answer = await provider.request('/.well-known/openid-configuration');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json()).toEqual({
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/v1/oauth/token`,
      userinfo_endpoint: `${origin}/v1/oauth/userinfo`,
      revocation_endpoint: `${origin}/v1/oauth/revoke`,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      scopes_supported: Object.keys(scopeFields),
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
      claims_supported: [
        'iss',
        'sub',
        'aud',
        'exp',
        'iat',
        'auth_time',
        'nonce',
        'at_hash',
        ...Object.values(scopeFields)
          .flat()
          .filter((field) => field !== 'sub'),
      ],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
  });

  it('is made of the options alone, with their path prefixes', async () => {
    const provider = await start({
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

  it('is found below the issuer, wherever that is', async () => {
    const provider = await start({ authUrl: 'https://id.example/auth', issuer: 'https://id.example/tenant' });
    const answer = await provider.request('/tenant/.well-known/openid-configuration');
    expect(answer.status).toBe(200);
    expect(answer.json().issuer).toBe('https://id.example/tenant');
  });

  it('is the same as authorization server metadata (RFC 8414)', async () => {
    const provider = await start({});
    const [openid, oauth] = await Promise.all(
      ['openid-configuration', 'oauth-authorization-server'].map((name) =>
        provider.request(`/.well-known/${name}`),
      ),
    );
    expect(oauth?.text).toBe(openid?.text);
  });

  it('does not change with anything that a request says of hosts', async () => {
    const provider = await start({});
    const expected = (await provider.request('/.well-known/openid-configuration')).text;
    const path = '/.well-known/openid-configuration';
    const forged = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    };
    expect(await rawGet(provider.origin, path, forged)).toBe(expected);
    expect(await rawGet(provider.origin, `http://evil.example${path}`, { host: 'evil.example' })).toBe(
      expected,
    );
  });

  it('leads to endpoints that are really there', async () => {
    const provider = await start({});
    const document = (await provider.request('/.well-known/openid-configuration')).json();
    for (const [name, url] of Object.entries(document)) {
      if (!name.endsWith('_endpoint') && name !== 'jwks_uri') continue;
      expect((await provider.request(String(url))).status, name).not.toBe(404);
    }
  });

  it.each([
    ['https://id.example', 'https://id.example'],
    ['https://id.example/', 'https://id.example'],
    ['https://id.example/tenant', 'https://id.example/tenant'],
  ])('writes the issuer %s as %s', async (issuer, written) => {
    const provider = await start({ issuer });
    expect((await provider.request('/.well-known/openid-configuration')).json().issuer).toBe(written);
  });
});

describe('the key set', () => {
  it('holds one public key for each algorithm and nothing private', async () => {
    const provider = await start({});
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
  it('sends HSTS with every answer, and Secure cookies', async () => {
    const provider = await start({ authUrl: 'https://id.example', baseUrl: 'https://api.example' });
    const client = await provider.client();
    for (const path of [
      '/.well-known/openid-configuration',
      '/nowhere',
      '/v1/oauth/userinfo',
      '/account/apps',
    ]) {
      expect((await provider.request(path)).headers.get('strict-transport-security'), path).toMatch(
        /^max-age=\d{8}/,
      );
    }
    const answer = await provider.browser().get(provider.authorizeUrl(client));
    const cookies = answer.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/; secure(;|$)/i);
    for (const cookie of cookies) expect(cookie).toMatch(/; httponly(;|$)/i);
    for (const cookie of cookies) expect(cookie).toMatch(/; samesite=lax(;|$)/i);
  });

  it('runs the whole flow, with the issuer and the addresses of the options', async () => {
    const provider = await start({ authUrl: 'https://id.example', issuer: 'https://issuer.example' });
    const client = await provider.client();
    const callback = await provider.authorize(client);
    expect(callback.get('iss')).toBe('https://issuer.example');
    expect((await provider.exchange(client, callback.get('code') ?? '')).status).toBe(200);
  });

  it('http addresses send neither', async () => {
    const provider = await start({});
    const answer = await provider.browser().get(provider.authorizeUrl(await provider.client()));
    expect(answer.headers.get('strict-transport-security')).toBeNull();
    for (const cookie of answer.headers.getSetCookie()) expect(cookie).not.toMatch(/secure/i);
  });
});
