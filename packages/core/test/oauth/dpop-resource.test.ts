import { describe, expect, it } from 'vitest';
import { protectedResource } from '../../src/resource-server.ts';
import { athOf, dpopKey, type ProofChanges } from '../support/dpop.ts';
import { tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const baseUrl = 'https://api.example';
const provider = await startProvider({ dpop: true });
const app = await provider.client();
const key = await dpopKey(provider);
const { verify } = provider.ostiary.tokens;
const refused = { active: false, reason: 'invalid_dpop_proof' };

async function boundToken(): Promise<string> {
  const request = tokenRequest(app, await provider.code(app));
  const answer = await provider.call('/v1/oauth/token', request, await key.forToken());
  return String(answer.json().access_token);
}

/** Builds a GET request to an API, with an access token and a DPoP proof for the URL `htu`. */
async function presented(
  token: string,
  path: string,
  htu = `${provider.origin}${path}`,
  changes: ProofChanges = {},
) {
  const claims = { ath: athOf(token), htu, ...changes.claims };
  const proof = await key.proof('GET', path, { ...changes, claims });
  return { method: 'GET', url: path, headers: { authorization: `DPoP ${token}`, dpop: proof } };
}

describe('tokens.verify of a bound token', () => {
  it('accepts it with the request whose proof is right, once', async () => {
    const token = await boundToken();
    const request = await presented(token, '/wallet');
    expect(await verify(token, { request })).toMatchObject({ active: true, dpopJkt: key.jkt });
    expect(await verify(token, { request })).toEqual(refused);
  });

  it('refuses it without the request, without a proof, and as a bearer token', async () => {
    const token = await boundToken();
    const { headers, ...request } = await presented(token, '/wallet');
    expect(await verify(token)).toEqual(refused);
    expect(await verify(token, { request: { ...request, headers: {} } })).toEqual(refused);
    const { authorization } = headers;
    expect(await verify(token, { request: { ...request, headers: { authorization } } })).toEqual(refused);
    const bearer = { ...headers, authorization: `Bearer ${token}` };
    expect(await verify(token, { request: { ...request, headers: bearer } })).toEqual(refused);
    expect(await verify(token, { request: { ...request, headers } })).toMatchObject({ active: true });
  });

  it('takes a request of the Web API, and headers in any case or as lists', async () => {
    const token = await boundToken();
    const { headers } = await presented(token, '/wallet');
    const request = new Request(`${provider.origin}/wallet?page=2`, { headers });
    expect(await verify(token, { request })).toMatchObject({ active: true });
    const again = (await presented(token, '/wallet')).headers;
    const lists = { Authorization: again.authorization, DPoP: [again.dpop] };
    expect(await verify(token, { request: { url: '/wallet', headers: lists } })).toMatchObject({
      active: true,
    });
    const twice = (await presented(token, '/wallet')).headers.dpop;
    const both = { authorization: again.authorization, dpop: [twice, twice] };
    expect(await verify(token, { request: { url: '/wallet', headers: both } })).toEqual(refused);
  });

  it('takes the address that Express keeps when it takes the path of a router off', async () => {
    const token = await boundToken();
    const request = {
      ...(await presented(token, '/wallet/balance')),
      originalUrl: '/wallet/balance',
      url: '/balance',
    };
    expect(await verify(token, { request })).toMatchObject({ active: true });
  });

  it('counts the origin that the host says, and never that of the request', async () => {
    const token = await boundToken();
    const elsewhere = 'https://evil.example/wallet';
    const stolen = await presented(token, '/wallet', elsewhere);
    expect(await verify(token, { request: stolen })).toEqual(refused);
    const absolute = { ...(await presented(token, '/wallet', elsewhere)), url: elsewhere };
    expect(await verify(token, { request: absolute })).toEqual(refused);
    const doubled = await presented(token, '//evil.example/wallet', elsewhere);
    expect(await verify(token, { request: doubled })).toEqual(refused);
    const host = await presented(token, '/wallet', elsewhere);
    const headers = { ...host.headers, host: 'evil.example' };
    expect(await verify(token, { request: { ...host, headers } })).toEqual(refused);
    const own = await presented(token, '/wallet', `${baseUrl}/wallet`);
    expect(await verify(token, { request: own, origin: baseUrl })).toMatchObject({ active: true });
  });

  it('refuses a requirement that would check nothing', async () => {
    const token = await boundToken();
    for (const requirement of [
      { request: 'GET /' },
      { request: {} },
      { origin: `${baseUrl}/` },
      { origin: 'x' },
    ])
      await expect(verify(token, requirement as never)).rejects.toThrow(TypeError);
  });
});

describe('tokens.verify of a bearer token', () => {
  it('accepts it with and without the request, and refuses the scheme DPoP', async () => {
    const token = await provider.token(app);
    const bearer = { headers: { authorization: `Bearer ${token}` } };
    expect(await verify(token, { request: bearer })).toMatchObject({ active: true });
    const active = await verify(token);
    expect(active).toMatchObject({ active: true });
    expect(active).not.toHaveProperty('dpopJkt');
    expect(await verify(token, { request: await presented(token, '/wallet') })).toEqual(refused);
  });
});

describe('a protected resource', () => {
  const resource = 'https://tools.example/mcp';

  it('takes bound tokens with their proof, and no others as bearer tokens', async () => {
    const server = await startProvider({
      dpop: true,
      introspection: true,
      resources: { [resource]: { name: 'Tools', scopes: [] } },
    });
    const own = await dpopKey(server);
    const client = await server.client();
    const api = await server.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
    const code = await server.code(client, { resource });
    const answer = await server.call('/v1/oauth/token', tokenRequest(client, code), await own.forToken());
    const token = String(answer.json().access_token);
    const tools = server.ostiary.protectedResource({ resource });
    const claims = { ath: athOf(token), htu: resource };
    const sent = async () => {
      const dpop = await own.proof('GET', '/mcp', { claims });
      return new Request('http://10.0.0.1/mcp', { headers: { authorization: `DPoP ${token}`, dpop } });
    };
    expect(await tools.check(await sent())).toMatchObject({ active: true, dpopJkt: own.jkt });
    expect(tools.metadata.dpop_signing_alg_values_supported).toContain('ES256');

    const bearer = new Request(resource, { headers: { authorization: `Bearer ${token}` } });
    const refusedHere = await tools.check(bearer);
    expect(refusedHere).toMatchObject({ active: false, reason: 'invalid_dpop_proof', status: 401 });
    const challenge = 'headers' in refusedHere ? refusedHere.headers['WWW-Authenticate'] : '';
    expect(challenge).toMatch(/^DPoP error="invalid_dpop_proof", .*resource_metadata="[^"]+", algs="ES256 /);

    const elsewhere = protectedResource({
      resource,
      remote: {
        issuer: server.origin,
        introspectionEndpoint: `${server.origin}/v1/oauth/introspect`,
        ...{ clientId: api.id, clientSecret: api.secret ?? '' },
      },
    });
    expect(await elsewhere.check(bearer)).toMatchObject({ active: false, reason: 'invalid_dpop_proof' });
  });
});
