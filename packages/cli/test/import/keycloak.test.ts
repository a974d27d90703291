import { describe, expect, it } from 'vitest';
import { keycloakClientOf, keycloakUser, realm } from './samples.ts';
import { installation } from './support.ts';

const options = { verifyImportedSecret: () => true, refreshTokens: {} };

describe('an import from Keycloak', () => {
  it('imports the clients of a realm except those of Keycloak itself, and the consents of its users', async () => {
    const { provider, ostiary, run } = await installation(options);
    const { code, out } = await run('keycloak', realm);
    expect(code).toBe(1);
    expect(out).toMatch(
      /shop +created +without home page; service account; scopes: email address phone organization\n/,
    );
    expect(out).not.toMatch(/security-admin-console|account-console/);
    for (const [id, reason] of [
      ['masked', 'its secret is not in the file'],
      ['wild', 'has a wildcard'],
      ['saml', 'it speaks saml'],
      ['api', 'bearer-only'],
      ['off', 'it is disabled'],
    ])
      expect(out).toMatch(new RegExp(`${id} +REFUSED +.*${reason}`));
    expect(await ostiary.admin.clients.get('shop')).toMatchObject({
      ...{ name: 'Web shop', public: false, requirePkce: true, idTokenAlg: 'ES256' },
      allowedScopes: ['openid', 'profile', 'offline_access'],
      redirectUris: ['https://shop.example/cb'],
      postLogoutRedirectUris: ['https://shop.example/cb', 'https://shop.example/bye'],
      backchannelLogoutUri: 'https://93.184.216.34/backchannel',
      ...{ termsUrl: 'https://shop.example/terms', privacyUrl: 'https://shop.example/privacy' },
    });
    expect(await ostiary.admin.clients.get('spa')).toMatchObject({ public: true });
    const { id } = keycloakUser;
    expect(await ostiary.consents.list(id)).toMatchObject([
      { clientId: 'shop', scopes: ['openid', 'offline_access', 'profile'] },
    ]);
    const [consent] = await ostiary.consents.list(id);
    expect(consent?.grantedAt.getTime()).toBe(Math.min(1_795_641_922_043, provider.clock.now()));
    expect(await ostiary.consents.list('u-2')).toEqual([]);
    expect(out).toContain(
      '1 consent imported\n1 left out: their user is disabled\n1 left out: their client is not here',
    );
  });

  it.each([
    [
      'no addresses after logout: the redirect URIs',
      {},
      { postLogoutRedirectUris: ['https://a.example/cb'] },
    ],
    ['none', { attributes: { 'post.logout.redirect.uris': '-##/bye' } }, { postLogoutRedirectUris: [] }],
    [
      'a root with a path, before what begins with a slash',
      {
        ...{ rootUrl: 'https://a.example/app', redirectUris: ['/cb'] },
        attributes: { 'post.logout.redirect.uris': '/bye', 'backchannel.logout.url': '/out' },
      },
      {
        redirectUris: ['https://a.example/app/cb'],
        postLogoutRedirectUris: ['https://a.example/app/bye'],
        backchannelLogoutUri: 'https://a.example/app/out',
      },
    ],
  ])('reads %s', async (_, changes, expected) => {
    const webhooks = { resolve: async () => ['93.184.216.34'] };
    const { ostiary, run } = await installation({ ...options, webhooks });
    expect((await run('keycloak', { clients: [keycloakClientOf('a', changes)] })).code).toBe(0);
    expect(await ostiary.admin.clients.get('a')).toMatchObject(expected);
  });

  it('uses the ID token algorithm of the realm for clients without one', async () => {
    const { ostiary, run } = await installation(options);
    const client = keycloakClientOf('a');
    await run('keycloak', { defaultSignatureAlgorithm: 'ES256', clients: [client] });
    expect((await ostiary.admin.clients.get('a'))?.idTokenAlg).toBe('ES256');
    const other = keycloakClientOf('b', { attributes: { 'id.token.signed.response.alg': 'PS256' } });
    const { out } = await run('keycloak', { clients: [other] });
    expect(out).toMatch(/b +created +without ID tokens by PS256/);
  });

  it('reports settings of a client that are not supported here', async () => {
    const attributes = {
      'pkce.code.challenge.method': 'plain',
      'oauth2.device.authorization.grant.enabled': 'true',
      'require.pushed.authorization.requests': 'true',
      'frontchannel.logout.url': 'https://a.example/out',
    };
    const flows = { directAccessGrantsEnabled: true, implicitFlowEnabled: true, consentRequired: false };
    const { run } = await installation(options);
    const client = keycloakClientOf('a', { ...flows, attributes, protocolMappers: [{}] });
    expect((await run('keycloak', { clients: [client] })).out).toContain(
      'without home page; sign-ins without a consent page; passwords as grants; implicit flow; protocol mappers; front-channel logout; device flow; PKCE by plain; pushed authorization requests; ',
    );
  });

  it('lets a client keep its tokens bound to keys', async () => {
    const { ostiary, run } = await installation({ ...options, dpop: true });
    const client = keycloakClientOf('a', { attributes: { 'dpop.bound.access.tokens': 'true' } });
    await run('keycloak', { clients: [client] });
    expect((await ostiary.admin.clients.get('a'))?.requireDpop).toBe(true);
  });

  it('reads files of users, also of users from another directory', async () => {
    const { ostiary, run } = await installation(options);
    await run('keycloak', realm);
    const { enabled: _, ...federated } = { ...keycloakUser, id: 'f-1' };
    expect((await run('keycloak', { users: [{ ...keycloakUser, id: 'u-9' }] })).out).toContain(
      '1 consent imp',
    );
    expect((await run('keycloak', { federatedUsers: [federated] })).out).toContain('1 consent imported');
    expect(await ostiary.consents.list('f-1')).toHaveLength(1);
  });
});
