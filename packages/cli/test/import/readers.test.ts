import { describe, expect, it } from 'vitest';
import { type Found, moment } from '../../src/import/found.ts';
import { latestOfHydra, readHydra } from '../../src/import/hydra.ts';
import { readKeycloak } from '../../src/import/keycloak.ts';
import { readOidcProvider } from '../../src/import/oidc-provider.ts';
import { grant, hydraClient, hydraConsent, keycloakClientOf, keycloakUser, metadata } from './samples.ts';

const only = ({ clients: [client] }: Found) => {
  if (client === undefined) throw new Error('no client was found');
  return client;
};
const ofProvider = (changes: object) => only(readOidcProvider({ ...metadata, ...changes }));
const ofKeycloak = (changes: object) => only(readKeycloak({ clients: [keycloakClientOf('a', changes)] }));
const attributed = (attributes: object) => ofKeycloak({ attributes });

describe('the metadata of a client', () => {
  it.each([
    ['client_secret_basic', null],
    ['client_secret_post', null],
    ['private_key_jwt', 'it authenticates by private_key_jwt, and its keys are not in the file'],
    ['client_secret_jwt', 'it authenticates by client_secret_jwt'],
  ])('that authenticates by %s: %s', (method, reason) => {
    expect(ofProvider({ token_endpoint_auth_method: method }).reason).toBe(reason);
  });

  it('that signs keeps its keys, and needs no secret', () => {
    const keyed = { token_endpoint_auth_method: 'private_key_jwt', client_secret: 'unused' };
    const jwks = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x' }] };
    const inline = ofProvider({ ...keyed, jwks, token_endpoint_auth_signing_alg: 'EdDSA' });
    expect([inline.reason, inline.left]).toEqual([null, []]);
    expect(inline.settings).toMatchObject({ jwks });
    expect(inline.settings).not.toHaveProperty('clientSecret');
    const uri = ofProvider({ ...keyed, jwks_uri: 'https://app.example/jwks' });
    expect(uri.settings).toMatchObject({ jwksUri: 'https://app.example/jwks' });
    const weak = ofProvider({ ...keyed, jwks, token_endpoint_auth_signing_alg: 'RS256' });
    expect(weak.reason).toBe('it authenticates by private_key_jwt with RS256');
  });

  it('that must push its requests still must after the import', () => {
    const { settings, left } = ofProvider({ require_pushed_authorization_requests: true });
    expect([settings.requirePushedRequests, left]).toEqual([true, []]);
  });

  it('needs no secret when it is public, and gets none', () => {
    const { reason, settings } = ofProvider({ token_endpoint_auth_method: 'none', client_secret: 'left' });
    expect(reason).toBeNull();
    expect(settings).toMatchObject({ public: true });
    expect(settings).not.toHaveProperty('clientSecret');
  });

  it.each([
    [0, null],
    [1, 'its secret has expired'],
    [4_000_000_000, null],
  ])('whose secret ends at %d: %s', (ends, reason) => {
    expect(ofProvider({ client_secret_expires_at: ends }).reason).toBe(reason);
  });

  it('keeps offline_access only with the grant that uses it', () => {
    const scopes = (grants: readonly string[]) =>
      ofProvider({ scope: 'openid offline', grant_types: grants }).settings.allowedScopes;
    expect(scopes(['authorization_code'])).toEqual(['openid']);
    expect(scopes(['authorization_code', 'refresh_token'])).toEqual(['openid', 'offline_access']);
  });

  it.each([
    [{ grant_types: ['authorization_code', 'implicit', 'x'] }, ['grants: implicit x']],
    [{ id_token_signed_response_alg: 'PS256' }, ['ID tokens by PS256']],
    [{ id_token_signed_response_alg: 'RS256' }, []],
    [{ frontchannel_logout_uri: 'https://a.example/' }, ['front-channel logout']],
    [{ subject_type: 'pairwise' }, ['pairwise subjects']],
    [{ sector_identifier_uri: 'https://a.example/' }, ['pairwise subjects']],
    [{ userinfo_signed_response_alg: 'none' }, []],
  ])('with %j leaves %j', (changes, left) => {
    const { grant_types: grants = ['authorization_code', 'refresh_token'] } = changes as typeof metadata;
    expect(ofProvider({ ...changes, grant_types: grants }).left).toEqual(left);
  });

  it('keeps the ID token algorithm and the URLs of terms and privacy policy', () => {
    const given = { tos_uri: 'https://a.example/t', policy_uri: 'https://a.example/p' };
    expect(ofProvider({ ...given, id_token_signed_response_alg: 'ES256' }).settings).toMatchObject({
      ...{ termsUrl: given.tos_uri, privacyUrl: given.policy_uri, idTokenAlg: 'ES256' },
    });
  });
});

describe('a grant of oidc-provider', () => {
  it.each([
    [{ exp: Math.floor(Date.now() / 1000) - 1 }, [{ omission: 'ended' }]],
    [{ exp: Math.floor(Date.now() / 1000) + 60 }, [{ omission: null }]],
    [{ exp: undefined }, [{ omission: null }]],
    [{ openid: {} }, [{ omission: null, scopes: [] }]],
    [{ accountId: undefined }, [{ omission: 'incomplete' }]],
    [{ clientId: '' }, [{ omission: 'incomplete' }]],
    [{ kind: 'Session' }, []],
  ])('with %j is the consent %j', (changes, consents) => {
    expect(readOidcProvider([[{ ...grant, ...changes }]]).consents).toMatchObject(consents);
  });

  it('has no scope that the user rejected, apart from openid', () => {
    const rejected = { openid: { scope: 'openid profile' } };
    expect(readOidcProvider([{ ...grant, rejected }]).consents).toMatchObject([{ scopes: ['openid'] }]);
  });
});

describe('an export of Hydra', () => {
  it('may be a single client or session', () => {
    expect(only(readHydra(hydraClient)).clientId).toBe(hydraClient.client_id);
    expect(readHydra(hydraConsent).consents).toHaveLength(1);
  });

  it('names offline_access as the standard does', () => {
    const { consents } = readHydra([{ ...hydraConsent, grant_scope: ['openid', 'offline'] }]);
    expect(consents[0]?.scopes).toEqual(['openid', 'offline_access']);
  });

  it('uses the session that was handled last for each user and client', () => {
    const at = (grantedAt: Date | undefined, scope: string, sub = 'u') => ({
      ...{ sub, clientId: 'c', scopes: [scope], omission: null, left: [] },
      ...(grantedAt && { grantedAt }),
    });
    const sessions = [
      at(new Date(2), 'b'),
      at(new Date(1), 'a'),
      at(undefined, 'x'),
      at(undefined, 'v', 'v'),
    ];
    expect(latestOfHydra(sessions).map(({ sub, scopes }) => [sub, ...scopes])).toEqual([
      ['u', 'b'],
      ['v', 'v'],
    ]);
  });
});

describe('a client of Keycloak', () => {
  it.each([
    [{ enabled: false }, 'it is disabled'],
    [{ protocol: 'saml' }, 'it speaks saml'],
    [{ bearerOnly: true }, 'it is bearer-only: create it as a resource server'],
    [{ standardFlowEnabled: false }, 'it does not use the authorization code grant'],
    [{ clientAuthenticatorType: 'client-jwt' }, 'it authenticates by client-jwt'],
    [{ clientAuthenticatorType: 'client-jwt', publicClient: true }, null],
    [{ secret: '**********' }, expect.stringContaining('its secret is not in the file')],
    [{ secret: undefined }, expect.stringContaining('its secret is not in the file')],
  ])('with %j: %s', (changes, reason) => {
    expect(ofKeycloak(changes).reason).toEqual(reason);
  });

  it('resolves addresses below its root URL, and keeps the listed post-logout addresses', () => {
    const paths = { rootUrl: 'https://a.example', redirectUris: ['/cb', 'https://b.example/cb'] };
    const uris = ['https://a.example/cb', 'https://b.example/cb'];
    const afterLogout = (value?: string) =>
      ofKeycloak({ ...paths, attributes: { 'post.logout.redirect.uris': value } }).settings
        .postLogoutRedirectUris;
    expect(ofKeycloak(paths).settings.redirectUris).toEqual(uris);
    expect(afterLogout()).toEqual(uris);
    expect(afterLogout('-')).toEqual([]);
    expect(afterLogout('/bye##+')).toEqual(['https://a.example/bye', ...uris]);
  });

  it('requires PKCE only if the realm does, and is reported with its own path', () => {
    expect(attributed({ 'pkce.code.challenge.method': 'S256' }).settings.requirePkce).toBe(true);
    expect(attributed({}).settings.requirePkce).toBe(false);
    const { settings } = ofKeycloak({
      ...{ rootUrl: 'https://a.example', attributes: { 'backchannel.logout.url': '/told' } },
    });
    expect(settings.backchannelLogoutUri).toBe('https://a.example/told');
  });

  it('has no scopes that are for Keycloak alone', () => {
    const scopes = {
      defaultClientScopes: ['acr', 'profile', 'roles'],
      optionalClientScopes: ['web-origins'],
    };
    expect(ofKeycloak(scopes).settings.allowedScopes).toEqual(['openid', 'profile']);
  });

  it('has no consents of users who are disabled', () => {
    const omissionOf = (user: object) => readKeycloak({ users: [user] }).consents[0]?.omission;
    expect(omissionOf(keycloakUser)).toBeNull();
    expect(omissionOf({ ...keycloakUser, enabled: false })).toBe('ofDisabledUser');
  });
});

it.each([
  [1_700_000_000, '2023-11-14T22:13:20.000Z'],
  [1_700_000_000_123, '2023-11-14T22:13:20.123Z'],
  ['2026-11-25T21:19:36.783Z', '2026-11-25T21:19:36.783Z'],
  ['', undefined],
  [null, undefined],
  ['soon', undefined],
])('the moment %j is %s', (value, iso) => {
  expect(moment(value)?.toISOString()).toBe(iso);
});
