import { describe, expect, it } from 'vitest';
import { serve, startProvider } from '../support/running.ts';

const provider = await startProvider();
const discovery = '/.well-known/openid-configuration';
const foreign = 'https://evil.example';

it.each(['openid-configuration', 'oauth-authorization-server', 'jwks.json'])(
  '%s is for any page',
  async (name) => {
    for (const headers of [{ origin: foreign }, {}]) {
      const answer = await provider.request(`/.well-known/${name}`, { headers });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  },
);

it.each([
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/jwks.json',
])('any page may send any header to %s', async (path) => {
  const asked = 'mcp-protocol-version, cache-control';
  const { status, headers } = await provider.request(path, {
    method: 'OPTIONS',
    headers: {
      origin: foreign,
      'access-control-request-method': 'GET',
      'access-control-request-headers': asked,
    },
  });
  expect(status).toBe(204);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-allow-headers')).toBe(asked);
});

describe('the metadata with the path of the issuer behind the well-known part', () => {
  const names = ['openid-configuration', 'oauth-authorization-server'];

  it.each([
    ['https://id.example/tenant', '/tenant'],
    ['https://id.example/tenant/', '/tenant'],
    ['https://id.example/a/b', '/a/b'],
    ['https://id.example/realms/x:y+(z)!', '/realms/x:y+(z)!'],
  ])('of %s is at the root of the host, with CORS', async (issuer, path) => {
    const provider = await startProvider({ authUrl: 'https://id.example/tenant', issuer });
    const usual = await provider.request(discovery);
    for (const name of names) {
      const target = `/.well-known/${name}${path}`;
      const answer = await provider.request(target, { headers: { origin: 'https://app.example' } });
      expect([target, answer.status]).toEqual([target, 200]);
      expect(answer.text).toBe(usual.text);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      const preflight = await provider.request(target, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'mcp-protocol-version',
        },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-headers')).toBe('mcp-protocol-version');
    }
    for (const other of ['/other', `${path}/more`, '/'])
      expect((await provider.request(`${discovery}${other}`)).status).toBe(404);
  });

  it('is among the routes, if the issuer has a path', async () => {
    const withPath = await startProvider({ authUrl: 'https://id.example/tenant' });
    const behind = names.map((name) => `/.well-known/${name}/tenant`);
    expect(withPath.ostiary.routes).toEqual(expect.arrayContaining(behind));
    const { routes } = (await startProvider()).ostiary;
    expect(routes.filter((path) => path.startsWith('/.well-known/'))).toHaveLength(3);
  });

  it('arrives where a framework mounts the handler at the well-known part', async () => {
    const provider = await startProvider({ authUrl: 'https://id.example/tenant' });
    const origin = await serve((request, response) => {
      const { url = '' } = request;
      const mounted = { originalUrl: url, url: url.replace(/^\/(?:tenant|\.well-known)(?=\/)/, '') };
      provider.ostiary.handler(Object.assign(request, mounted), response);
    });
    for (const path of ['/tenant/.well-known/jwks.json', `${discovery}/tenant`, discovery])
      expect([path, (await fetch(origin + path)).status]).toEqual([path, 200]);
  });
});
