import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { type HostScopes, scopeNames } from '../../src/index.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { serve, startProvider } from '../support/running.ts';

const consent = {
  en: { title: 'Use tools', detail: 'In your name.' },
  fr: { title: 'Se servir d’outils', detail: 'En votre nom.' },
};
const scopes: HostScopes = {
  'tools:run': { consent },
  'tools:edit': { consent },
  'tools:see': { consent },
  'wallet:pay': { consent },
};

// The server of the tools is there before the provider, which has its URI among its options.
let answer = (_request: IncomingMessage, response: ServerResponse): unknown => response.end();
const origin = await serve((request, response) => answer(request, response));
const tools = `${origin}/mcp`;
const wallet = 'https://wallet.example';
const resources = {
  [tools]: { name: 'Tools', scopes: ['tools:run', 'tools:edit', 'tools:see'] },
  [wallet]: { name: 'Wallet', scopes: ['wallet:pay'] },
};
const database = fragileStorage();
const provider = await startProvider({ scopes, resources, storage: database.storage });
const { protectedResource } = provider.ostiary;
const app = await provider.client({ allowedScopes: [...scopeNames, ...Object.keys(scopes)] });

const resource = protectedResource({ resource: tools, scopes: ['tools:run'] });
const metadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;

/** Scopes that a request needs in addition to `tools:run`, by its path. */
const needs: { readonly [path: string]: readonly string[] } = { '/mcp/edit': ['tools:edit'] };

answer = async (request, response) => {
  const path = request.url ?? '';
  const document = resource.metadataAnswer(request);
  if (document !== null) return response.writeHead(document.status, document.headers).end(document.body);
  const access = await resource.check(request, { scopes: needs[path] ?? [] });
  if (!access.active) return response.writeHead(access.status, access.headers).end(access.body);
  return response.end(JSON.stringify({ user: access.sub }));
};

/** Handles a request as the server for Node does, but with the objects of the Web API. */
async function answerOfWeb(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const document = resource.metadataAnswer(request);
  if (document !== null) return new Response(document.body, document);
  const access = await resource.check(request, { scopes: needs[pathname] ?? [] });
  if (!access.active) return new Response(access.body, access);
  return Response.json({ user: access.sub });
}

/** Servers for Node and for the Web API, which must respond in the same way. */
const servers: { readonly [kind: string]: (path: string, init?: RequestInit) => Promise<Response> } = {
  node: (path, init) => fetch(origin + path, init),
  web: (path, init) => answerOfWeb(new Request(origin + path, init)),
};

const tokenFor = async (scope: string, asked: string | null = tools): Promise<string> =>
  String((await provider.tokens(app, { scope, resource: asked ?? undefined })).access_token);

afterAll(() => database.breakWhen(null));

describe.each(Object.entries(servers))('with %s', (_kind, request) => {
  const call = (token: string | null, path = '/mcp') =>
    request(path, token === null ? {} : { headers: { authorization: `Bearer ${token}` } });
  const challengeOf = async (answered: Promise<Response>) => {
    const { status, headers } = await answered;
    return [status, headers.get('www-authenticate')];
  };
  const bearer = (parameters: string) => `Bearer ${parameters}resource_metadata="${metadataUrl}"`;

  it('the document says where tokens come from', async () => {
    const answered = await request('/.well-known/oauth-protected-resource/mcp?x=1');
    expect([answered.status, answered.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(answered.headers.get('access-control-allow-origin')).toBe('*');
    expect(await answered.json()).toEqual({
      resource: tools,
      authorization_servers: [provider.origin],
      scopes_supported: ['tools:run'],
      bearer_methods_supported: ['header'],
      resource_name: 'Tools',
    });
    const head = await request('/.well-known/oauth-protected-resource/mcp', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('the document answers preflights of any origin and header, and no other methods', async () => {
    const preflight = await request('/.well-known/oauth-protected-resource/mcp', {
      method: 'OPTIONS',
      headers: { 'access-control-request-headers': 'mcp-protocol-version, x-other' },
    });
    expect([preflight.status, Object.fromEntries(preflight.headers)]).toMatchObject([
      204,
      {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': 'mcp-protocol-version, x-other',
      },
    ]);
    const posted = await request('/.well-known/oauth-protected-resource/mcp', { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('the document has no other path', async () => {
    for (const path of ['', '/', '/mcp/', '/mcp/edit', '/MCP'])
      expect((await request(`/.well-known/oauth-protected-resource${path}`)).status).toBe(401);
  });

  it('a token with the scopes is let in', async () => {
    const answered = await call(await tokenFor('openid tools:run'));
    expect([answered.status, await answered.json()]).toEqual([200, { user: 'user-ana' }]);
  });

  it('without a token it challenges without an error code', async () => {
    const challenge = [401, bearer('scope="tools:run", ')];
    expect(await challengeOf(call(null))).toEqual(challenge);
    for (const authorization of ['Basic eDp5', 'DPoP x', 'Bearertoken', ''])
      expect(await challengeOf(request('/mcp', { headers: { authorization } }))).toEqual(challenge);
    const wide = [401, bearer('scope="tools:run tools:edit", ')];
    expect(await challengeOf(call(null, '/mcp/edit'))).toEqual(wide);
  });

  it('a bad token is a 401 with the reason', async () => {
    const revoked = await tokenFor('openid tools:run');
    await provider.revoke(revoked);
    const expected = (description: string) => [
      401,
      bearer(`error="invalid_token", error_description="${description}", scope="tools:run", `),
    ];
    expect(await challengeOf(call(revoked))).toEqual(expected('The access token was revoked.'));
    const other = await tokenFor('openid wallet:pay', wallet);
    for (const token of [other, await tokenFor('openid', null)])
      expect(await challengeOf(call(token))).toEqual(
        expected('The access token was issued for another resource.'),
      );
    for (const token of ['', 'a b', 'x', `${revoked}, Bearer ${revoked}`, '"'])
      expect(await challengeOf(call(token))).toEqual(expected('The access token is malformed.'));
    const body = await (await call('x')).json();
    expect(body).toEqual({
      error: 'invalid_token',
      error_description: 'The access token is malformed.',
    });
  });

  it('a missing scope is a 403 that names all scopes that the client must request', async () => {
    const lacks = (scope: string) => [
      403,
      bearer(
        `error="insufficient_scope", error_description="The access token lacks a scope.", scope="${scope}", `,
      ),
    ];
    expect(await challengeOf(call(await tokenFor('openid tools:see')))).toEqual(lacks('tools:run tools:see'));
    const token = await tokenFor('openid profile tools:see tools:run');
    expect(await challengeOf(call(token, '/mcp/edit'))).toEqual(lacks('tools:run tools:edit tools:see'));
    // With the scopes that the challenge names, the client gets in.
    expect((await call(await tokenFor('tools:run tools:edit tools:see'), '/mcp/edit')).status).toBe(200);
  });

  it('an unreachable database refuses all requests', async () => {
    const token = await tokenFor('openid tools:run');
    database.breakWhen(() => true);
    const answered = await call(token);
    database.breakWhen(null);
    expect([answered.status, answered.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answered.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect((await call(token)).status).toBe(200);
  });

  it('no answer is kept by a cache', async () => {
    for (const token of [null, 'x', await tokenFor('openid tools:see')])
      expect((await call(token)).headers.get('cache-control')).toBe('no-store');
  });
});

it('behind a mount point, as Express has them, it goes by the whole path', async () => {
  const at = await serve((request, response) => {
    const mounted = Object.assign(request, { originalUrl: request.url });
    mounted.url = request.url?.replace('/.well-known', '') ?? '';
    const document = resource.metadataAnswer(mounted);
    response.writeHead(document?.status ?? 404, { ...document?.headers }).end(document?.body);
  });
  expect((await fetch(`${at}/.well-known/oauth-protected-resource/mcp`)).status).toBe(200);
  expect((await fetch(`${at}/.well-known/oauth-protected-resource`)).status).toBe(404);
});

describe('a protected resource', () => {
  it('without own scopes lists all scopes of the resource, and challenges without a scope', async () => {
    const plain = protectedResource({ resource: wallet });
    expect([plain.metadataPath, plain.metadataUrl]).toEqual([
      '/.well-known/oauth-protected-resource',
      'https://wallet.example/.well-known/oauth-protected-resource',
    ]);
    expect(plain.metadata).toMatchObject({ scopes_supported: ['wallet:pay'], resource_name: 'Wallet' });
    const refused = await plain.check(new Request(wallet));
    expect(refused).toMatchObject({
      ...{ active: false, reason: 'missing', status: 401 },
      headers: { 'WWW-Authenticate': `Bearer resource_metadata="${plain.metadataUrl}"` },
    });
  });

  it('is refused for what there is not', async () => {
    const wrong: readonly [object, string][] = [
      [{ resource: 'https://other.example' }, 'the option resources has no https://other.example'],
      [{ resource: tools, scopes: ['nope'] }, `there is no scope nope for ${tools}`],
      [{ resource: tools, scopes: ['wallet:pay'] }, `there is no scope wallet:pay for ${tools}`],
      [{ resource: tools, scope: ['tools:run'] }, 'scope: is not a known field'],
      [{}, 'resource: is missing'],
    ];
    for (const [settings, message] of wrong)
      expect(() => protectedResource(settings as { resource: string })).toThrow(message);
    await expect(resource.check(new Request(tools), { scopes: ['nope'] })).rejects.toThrow(TypeError);
    const plain = await startProvider();
    expect(() => plain.ostiary.protectedResource({ resource: tools })).toThrow('needs the option resources');
  });

  it('is refused for a URI that can have no document', async () => {
    const uris = ['urn:example:x', 'http://api.example/', 'https://api.example/?x=1'];
    const entries = uris.map((uri) => [uri, { name: 'An API', scopes: [] }] as const);
    const at = await startProvider({ resources: Object.fromEntries(entries) });
    for (const uri of uris)
      expect(() => at.ostiary.protectedResource({ resource: uri })).toThrow('must be https');
  });
});
