import { describe, expect, it } from 'vitest';
import { type HostScopes, scopeNames } from '../../src/index.ts';
import { protectedResource, type RemoteResourceSettings } from '../../src/resource-server.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { serve, startProvider } from '../support/running.ts';

const consent = {
  en: { title: 'Use tools', detail: 'In your name.' },
  fr: { title: 'Se servir d’outils', detail: 'En votre nom.' },
};
const scopes: HostScopes = { 'tools:run': { consent }, 'tools:edit': { consent }, 'wallet:pay': { consent } };
const [tools, wallet] = ['https://tools.example/mcp', 'https://wallet.example'];
const resources = {
  [tools]: { name: 'Tools', scopes: ['tools:run', 'tools:edit'] },
  [wallet]: { name: 'Wallet', scopes: ['wallet:pay'] },
};
const database = fragileStorage();
const provider = await startProvider({ scopes, resources, introspection: true, storage: database.storage });
const app = await provider.client({ allowedScopes: [...scopeNames, ...Object.keys(scopes)] });
const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });

const logged: string[] = [];
const logger = {
  debug() {},
  info() {},
  warn() {},
  error: ({ err }: { err?: unknown }) => void logged.push(String(err)),
};

type Changes = Partial<Omit<RemoteResourceSettings, 'remote'>> & {
  readonly remote?: Partial<RemoteResourceSettings['remote']>;
};

/** Makes a protected resource as another server would, which introspects tokens at this provider. */
const resourceWith = ({ remote, ...changes }: Changes = {}) =>
  protectedResource({
    ...{ resource: tools, name: 'Tools', scopes: ['tools:run'], clock: provider.clock, logger },
    remote: {
      issuer: provider.origin,
      introspectionEndpoint: `${provider.origin}/v1/oauth/introspect`,
      ...{ clientId: api.id, clientSecret: api.secret ?? '' },
      ...remote,
    },
    ...changes,
  });

const bearing = (token: string) => new Request(tools, { headers: { authorization: `Bearer ${token}` } });

const tokenFor = async (scope: string, resource: string | null = tools): Promise<string> =>
  String((await provider.tokens(app, { scope, resource: resource ?? undefined })).access_token);

const reasonOf = async (resource: ReturnType<typeof resourceWith>, token: string, more: string[] = []) => {
  const access = await resource.check(bearing(token), { scopes: more });
  return access.active ? 'active' : `${access.status} ${access.reason}`;
};

describe('a protected resource in another process', () => {
  const resource = resourceWith();

  it('has a document and a challenge as one in the same process', async () => {
    expect(resource.metadata).toEqual({
      resource: tools,
      authorization_servers: [provider.origin],
      scopes_supported: ['tools:run'],
      bearer_methods_supported: ['header'],
      resource_name: 'Tools',
    });
    const refused = await resource.check(new Request(tools), { scopes: ['tools:edit'] });
    expect(refused).toMatchObject({
      ...{ status: 401, reason: 'missing' },
      headers: {
        'WWW-Authenticate': `Bearer scope="tools:run tools:edit", resource_metadata="${resource.metadataUrl}"`,
      },
    });
    const document = resource.metadataAnswer(new Request(resource.metadataUrl));
    expect(document?.body).toBe(JSON.stringify(resource.metadata));
  });

  it('lets a token for it in, and says whose it is', async () => {
    const issuedAt = provider.clock.now();
    expect(await resource.check(bearing(await tokenFor('openid tools:run')))).toEqual({
      ...{ active: true, sub: 'user-ana', clientId: app.id },
      ...{ scopes: ['openid', 'tools:run'], resources: [tools] },
      expiresAt: new Date(Math.floor((issuedAt + 3_600_000) / 1000) * 1000),
    });
  });

  it('says how and when the user signed in, if the login has an authentication context', async () => {
    const browser = provider.browser(null);
    provider.signIn(browser, 'user-ana', 60_000, { acr: 'urn:example:gold' });
    const signedInAt = Math.floor((provider.clock.now() - 60_000) / 1000) * 1000;
    const { access_token: token } = await provider.tokens(
      app,
      { scope: 'openid tools:run', resource: tools },
      browser,
    );
    expect(await resource.check(bearing(String(token)))).toMatchObject({
      ...{ active: true, acr: 'urn:example:gold' },
      authenticatedAt: new Date(signedInAt),
    });
  });

  it('takes one of several resources of a token for its own, in each spelling', async () => {
    const url = provider.authorizeUrl(app, { scope: 'openid tools:run', resource: wallet });
    const { location } = await provider.follow(
      provider.browser(),
      `${url}&resource=${encodeURIComponent(tools)}`,
    );
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    const token = String((await provider.exchange(app, code)).json().access_token);
    expect(await reasonOf(resource, token)).toBe('active');
    expect(await reasonOf(resourceWith({ resource: 'HTTPS://Tools.example:443/mcp' }), token)).toBe('active');
    const root = resourceWith({ resource: 'https://wallet.example/', scopes: [] });
    expect(await reasonOf(root, token)).toBe('active');
  });

  it('refuses tokens for other resources, without a resource, and inactive ones', async () => {
    const revoked = await tokenFor('openid tools:run');
    await provider.revoke(revoked);
    expect(await reasonOf(resource, revoked)).toBe('401 inactive');
    expect(await reasonOf(resource, await tokenFor('openid wallet:pay', wallet))).toBe('401 wrong_audience');
    expect(await reasonOf(resource, await tokenFor('openid', null))).toBe('401 wrong_audience');
    for (const token of ['x', `svc_at_${'a'.repeat(43)}`])
      expect(await reasonOf(resource, token)).toBe('401 inactive');
    for (const token of ['a b', 'x'.repeat(4097), '('])
      expect(await reasonOf(resource, token)).toBe('401 malformed');
  });

  it('names the scopes to request where one is missing', async () => {
    const access = await resource.check(bearing(await tokenFor('openid tools:run')), {
      scopes: ['tools:edit'],
    });
    expect(access).toMatchObject({ status: 403, reason: 'insufficient_scope' });
    if (!access.active)
      expect(access.headers['WWW-Authenticate']).toContain(
        'scope="tools:run tools:edit", resource_metadata=',
      );
  });
});

describe('while its authorization server is unreachable', () => {
  it('it refuses all requests with 503', async () => {
    const token = await tokenFor('openid tools:run');
    database.breakWhen(() => true);
    const access = await resourceWith().check(bearing(token));
    database.breakWhen(null);
    expect(access).toMatchObject({ active: false, status: 503, headers: { 'Retry-After': '5' } });
    expect(await reasonOf(resourceWith(), token)).toBe('active');
  });

  it.each([
    ['it cannot be reached', 'http://127.0.0.1:1/', 'fetch failed'],
    ['it hangs', null, 'timeout'],
  ])('%s', async (_why, address, message) => {
    const introspectionEndpoint = address ?? (await serve(() => undefined));
    const resource = resourceWith({ remote: { introspectionEndpoint, timeoutSeconds: 0.2 } });
    expect(await reasonOf(resource, 'token')).toBe('503 unavailable');
    expect(logged.at(-1)).toContain(message);
  });

  it.each([
    [200, '{"active":"true"}', 'no introspection response'],
    [200, '{"active":true}', 'no introspection response'],
    [200, '', 'JSON'],
    [200, '[]', 'no introspection response'],
    [200, '"'.repeat(70_000), 'too long'],
    [500, '{"active":true}', 'status 500'],
    [401, '{"error":"invalid_client"}', 'status 401'],
    [302, '', 'fetch failed'],
  ])('it responds with %s %.20s', async (status, body, message) => {
    const introspectionEndpoint = await serve((_request, response) =>
      response.writeHead(status, { location: `${provider.origin}/v1/oauth/introspect` }).end(body),
    );
    expect(await reasonOf(resourceWith({ remote: { introspectionEndpoint } }), 'token')).toBe(
      '503 unavailable',
    );
    expect(logged.at(-1)).toContain(message);
  });

  it('it refuses the client', async () => {
    const token = await tokenFor('openid tools:run');
    expect(await reasonOf(resourceWith({ remote: { clientSecret: 'wrong' } }), token)).toBe(
      '503 unavailable',
    );
    const stranger = { clientId: app.id, clientSecret: app.secret ?? '' };
    expect(await reasonOf(resourceWith({ remote: stranger }), token)).toBe('503 unavailable');
  });

  it('it is another issuer than the one that the document names', async () => {
    const token = await tokenFor('openid tools:run');
    const resource = resourceWith({ remote: { issuer: 'https://other.example' } });
    expect(await reasonOf(resource, token)).toBe('503 unavailable');
  });
});

describe('what it remembers', () => {
  const introspections = () => database.calls.filter((call) => call === 'grants.findToken').length;

  it('is nothing by default: a revoked token is refused at once', async () => {
    const [resource, token] = [resourceWith(), await tokenFor('openid tools:run')];
    const before = introspections();
    for (let time = 0; time < 3; time += 1) expect(await reasonOf(resource, token)).toBe('active');
    expect(introspections() - before).toBe(3);
    await provider.revoke(token);
    expect(await reasonOf(resource, token)).toBe('401 inactive');
  });

  it('is an active token for so many seconds, and not beyond its end', async () => {
    const [resource, token] = [
      resourceWith({ remote: { cacheSeconds: 10 } }),
      await tokenFor('openid tools:run'),
    ];
    const before = introspections();
    for (let time = 0; time < 3; time += 1) expect(await reasonOf(resource, token)).toBe('active');
    expect(introspections() - before).toBe(1);
    await provider.revoke(token);
    expect(await reasonOf(resource, token)).toBe('active');
    // Scopes are checked for each request, also with a cached introspection.
    expect(await reasonOf(resource, token, ['tools:edit'])).toBe('403 insufficient_scope');
    provider.clock.advance(10_000);
    expect(await reasonOf(resource, token)).toBe('401 inactive');

    const late = await tokenFor('openid tools:run');
    provider.clock.advance(3_595_000);
    expect(await reasonOf(resource, late)).toBe('active');
    provider.clock.advance(5_000);
    expect(await reasonOf(resource, late)).toBe('401 expired');
  });

  it('is nothing that it found before the clock was set back', async () => {
    const resource = resourceWith({ remote: { cacheSeconds: 10 } });
    const token = await tokenFor('openid tools:run');
    expect(await reasonOf(resource, token)).toBe('active');
    provider.clock.advance(-3_600_000);
    await provider.revoke(token);
    provider.clock.advance(10_000);
    expect(await reasonOf(resource, token)).toBe('401 inactive');
  });

  it('is no token that is not active', async () => {
    const resource = resourceWith({ remote: { cacheSeconds: 10 } });
    const before = introspections();
    const unknown = `svc_at_${'b'.repeat(43)}`;
    for (let time = 0; time < 2; time += 1) expect(await reasonOf(resource, unknown)).toBe('401 inactive');
    expect(introspections() - before).toBe(2);
  });
});

it.each([
  [{ resource: 'urn:x' }, 'resource: must be https'],
  [{ scopes: ['a b'] }, 'scopes.0: must be the name of a scope'],
  [
    { remote: { introspectionEndpoint: 'http://api.example/' } },
    'remote.introspectionEndpoint: must be https',
  ],
  [{ remote: { issuer: '' } }, 'remote.issuer: is missing'],
  [{ remote: { clientSecret: '' } }, 'remote.clientSecret'],
  [{ remote: { cacheSeconds: 301 } }, 'remote.cacheSeconds'],
  [{ remote: { cache: 1 } }, 'remote.cache: is not a known field'],
  [{ audience: tools }, 'audience: is not a known field'],
])('%j is refused', (changes, message) => {
  expect(() => resourceWith(changes as Changes)).toThrow(message);
});
