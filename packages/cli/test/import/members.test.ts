import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { Found } from '../../src/import/found.ts';
import { readHydra } from '../../src/import/hydra.ts';
import { readKeycloak } from '../../src/import/keycloak.ts';
import { readOidcProvider } from '../../src/import/oidc-provider.ts';
import { grant, hydraClient, hydraConsent, keycloakClientOf, keycloakUser, metadata } from './samples.ts';
import { installation } from './support.ts';

// Members of a registration that the installed version of oidc-provider checks.
const requireFromCore = createRequire(new URL('../../../core/package.json', import.meta.url));
const lists: Record<string, unknown> = requireFromCore('oidc-provider/lib/consts/client_attributes.js');
const namesIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.map(String) : Object.keys(Object(list));
const membersOfProvider = [
  ...new Set(
    ['RECOGNIZED_METADATA', 'DEFAULTS', 'BOOL', 'ARYS', 'STRING', 'WHEN', 'CHOICES', 'WEB_URI'].flatMap(
      (name) => namesIn(lists[name]),
    ),
  ),
];

/** Members of a client in the API of Hydra 2.3. */
const membersOfHydra =
  `access_token_strategy allowed_cors_origins audience authorization_code_grant_access_token_lifespan
  authorization_code_grant_id_token_lifespan authorization_code_grant_refresh_token_lifespan backchannel_logout_session_required
  backchannel_logout_uri client_credentials_grant_access_token_lifespan client_id client_name client_secret
  client_secret_expires_at client_uri contacts created_at device_authorization_grant_access_token_lifespan
  device_authorization_grant_id_token_lifespan device_authorization_grant_refresh_token_lifespan
  frontchannel_logout_session_required frontchannel_logout_uri grant_types implicit_grant_access_token_lifespan
  implicit_grant_id_token_lifespan jwks jwks_uri jwt_bearer_grant_access_token_lifespan logo_uri metadata owner policy_uri
  post_logout_redirect_uris redirect_uris refresh_token_grant_access_token_lifespan refresh_token_grant_id_token_lifespan
  refresh_token_grant_refresh_token_lifespan registration_access_token registration_client_uri request_object_signing_alg
  request_uris response_types scope sector_identifier_uri skip_consent skip_logout_consent subject_type
  token_endpoint_auth_method token_endpoint_auth_signing_alg tos_uri updated_at userinfo_signed_response_alg`.split(
    /\s+/,
  );

/** Members of a client in an export of Keycloak 26.5, except for its attributes. */
const membersOfKeycloak =
  `access adminUrl alwaysDisplayInConsole authenticationFlowBindingOverrides authorizationServicesEnabled
  authorizationSettings baseUrl bearerOnly clientAuthenticatorType clientId clientTemplate consentRequired
  defaultClientScopes defaultRoles description directAccessGrantsEnabled directGrantsOnly enabled frontchannelLogout
  fullScopeAllowed id implicitFlowEnabled name nodeReRegistrationTimeout notBefore optionalClientScopes origin
  protocol protocolMappers publicClient redirectUris registeredNodes registrationAccessToken rootUrl secret serviceAccountsEnabled
  standardFlowEnabled surrogateAuthRequired type useTemplateConfig useTemplateMappers useTemplateScope webOrigins`.split(
    /\s+/,
  );

/** Attributes that OpenID Connect clients of Keycloak have. */
const attributesOfKeycloak =
  `access.token.header.type.rfc9068 access.token.lifespan access.token.signed.response.alg acr.loa.map
  authorization.encrypted.response.alg authorization.encrypted.response.enc authorization.signed.response.alg
  backchannel.logout.revoke.offline.tokens backchannel.logout.session.required backchannel.logout.url
  ciba.backchannel.auth.request.signing.alg ciba.backchannel.token.delivery.mode client.offline.session.idle.timeout
  client.offline.session.max.lifespan client.secret.creation.time client.secret.expiration.time client.secret.rotated
  client.secret.rotated.creation.time client.secret.rotated.expiration.time client.session.idle.timeout
  client.session.max.lifespan client.use.lightweight.access.token.enabled client_credentials.use_refresh_token
  consent.screen.text contacts default.acr.values display.on.consent.screen dpop.bound.access.tokens
  exclude.issuer.from.auth.response exclude.session.state.from.auth.response frontchannel.logout.session.required
  frontchannel.logout.url id.token.as.detached.signature id.token.encrypted.response.alg id.token.encrypted.response.enc
  id.token.signed.response.alg jwks.string jwks.url login_theme logoUri logout.confirmation.enabled minimum.acr.value
  oauth2.device.authorization.grant.enabled oauth2.jwt.authorization.grant.enabled oauth2.jwt.authorization.grant.idp
  oidc.ciba.grant.enabled pkce.code.challenge.method policyUri post.logout.redirect.uris realm_client
  request.object.encryption.alg request.object.encryption.enc request.object.required request.object.signature.alg request.uris
  require.pushed.authorization.requests sectorIdentifierUri standard.token.exchange.enableRefreshRequestedTokenType
  standard.token.exchange.enabled tls.client.certificate.bound.access.tokens token.endpoint.auth.signing.alg
  token.endpoint.auth.signing.max.exp token.response.type.bearer.lower-case tosUri use.jwks.string use.jwks.url use.refresh.tokens
  user.info.encrypted.response.alg user.info.encrypted.response.enc user.info.response.signature.alg
  x509.allow.regex.pattern.comparison x509.subjectdn`.split(/\s+/);

/** Values to try for a member of an exported client. At least one differs from the member's default. */
const values = [
  true,
  'true',
  'false',
  false,
  'x',
  'jwt',
  'pairwise',
  'https://a.example/x',
  ['https://a.example/x'],
  4e9,
  0,
  '4000000000',
  { a: 'x' },
  [{ a: 1 }],
];

type Read = (record: object) => Found;
const shownOf = (read: Read, record: object) => JSON.stringify(read(record));

/**
 * Returns members of an exported client that have no effect: their values change neither what is imported,
 * nor what is reported as lost, nor whether the client is refused.
 */
function withoutTrace(read: Read, plain: object, names: readonly string[]): string[] {
  const { [Symbol.iterator]: _, ...base } = { ...plain } as Record<string | symbol, unknown>;
  return names.filter((name) => {
    const { [name]: __, ...absent } = base;
    const shown = shownOf(read, absent);
    return values.every((value) => shownOf(read, { ...absent, [name]: value }) === shown);
  });
}

const readProvider: Read = (record) => readOidcProvider([record]);
const readRealm: Read = (client) => readKeycloak({ clients: [client] });
const readAttributes: Read = (attributes) => readRealm(keycloakClientOf('a', { attributes }));

describe('every member of a client is imported, named, or refuses it, but for those that', () => {
  it('oidc-provider and Hydra keep of the record alone, or always have here', () => {
    const confidential = withoutTrace(readProvider, metadata, [...membersOfProvider, ...membersOfHydra]);
    const spa = { ...metadata, token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/cb'] };
    const isNative =
      shownOf(readProvider, { ...spa, application_type: 'native' }) !== shownOf(readProvider, spa);
    expect(isNative).toBe(true);
    expect(new Set(confidential)).toEqual(
      new Set([
        'application_type',
        'backchannel_logout_session_required',
        'client_id_issued_at',
        'created_at',
        'frontchannel_logout_session_required',
        'require_auth_time',
        'updated_at',
      ]),
    );
    expect(membersOfProvider.length).toBeGreaterThan(50);
  });

  it('Keycloak keeps of the record alone, or always has here', () => {
    expect(
      withoutTrace(readRealm, keycloakClientOf('a', { redirectUris: ['/cb'] }), membersOfKeycloak),
    ).toEqual(['access', 'frontchannelLogout', 'id', 'nodeReRegistrationTimeout', 'origin']);
    expect(withoutTrace(readAttributes, {}, attributesOfKeycloak)).toEqual([
      'backchannel.logout.session.required',
      'client.secret.creation.time',
      'client.secret.rotated.creation.time',
      'client.secret.rotated.expiration.time',
      'display.on.consent.screen',
      'frontchannel.logout.session.required',
      'logout.confirmation.enabled',
      'realm_client',
      'use.jwks.string',
      'use.jwks.url',
    ]);
  });

  it('a grant, a session or a consent has as its own record', () => {
    const names = [
      'accountId',
      'clientId',
      'exp',
      'iat',
      'jti',
      'kind',
      'openid',
      'rar',
      'rejected',
      'resources',
      'more',
    ];
    expect(withoutTrace(readProvider, grant, names)).toEqual(['jti', 'kind', 'openid', 'rejected']);
    const rejecting = { ...grant, rejected: { openid: { scope: 'profile', claims: ['name'] } } };
    expect(readProvider(rejecting).consents).toMatchObject([{ scopes: ['openid'] }]);
    const claims = { ...grant, openid: { scope: 'openid', claims: ['name'] } };
    expect(readProvider(claims).consents).toMatchObject([{ left: ['single claims'] }]);

    const ofSession = [...Object.keys(hydraConsent), 'more'].filter((name) => name !== 'consent_request');
    expect(withoutTrace((session) => readHydra([session]), hydraConsent, ofSession)).toEqual([]);

    const [consent] = keycloakUser.clientConsents;
    const readConsent: Read = (one) => readKeycloak({ users: [{ ...keycloakUser, clientConsents: [one] }] });
    const ofConsent = [...Object.keys({ ...consent }), 'grantedRealmRoles', 'grantedClientRoles', 'more'];
    expect(withoutTrace(readConsent, { ...consent }, ofConsent)).toEqual(['lastUpdatedDate']);
  });
});

describe('protections of a client that are not supported here', () => {
  it.each([
    [{ require_signed_request_object: true }, 'signed requests'],
    [{ request_object_signing_alg: 'ES256' }, 'signed requests'],
    [{ default_max_age: 0 }, 'default_max_age: 0'],
    [{ tls_client_certificate_bound_access_tokens: true }, 'access tokens bound to a certificate'],
    [{ client_secret_expires_at: 4_000_000_000 }, 'the end of its secret on 2096-10-02'],
    [{ id_token_encrypted_response_alg: 'RSA-OAEP' }, 'encrypted answers'],
    [{ a_setting_of_tomorrow: ['x'], another: {} }, 'settings: a_setting_of_tomorrow'],
  ])('is named: %j', async (changes, named) => {
    const { run } = await installation({ refreshTokens: {} });
    const { out } = await run('oidc-provider', [{ ...metadata, ...changes }]);
    expect(out).toMatch(/kafe +created +without /);
    expect(out).toContain(`without ${named}`);
  });

  it('are not reported for members with the default value', async () => {
    const { run } = await installation({ refreshTokens: {} });
    const { DEFAULTS } = lists;
    const { out } = await run('oidc-provider', [{ ...Object(DEFAULTS), ...metadata }]);
    expect(out).toMatch(/kafe +created\n/);
  });
});

describe('a confidential client', () => {
  it.each([
    ['oidc-provider', [metadata], 'kafe'],
    ['hydra', [hydraClient], 'shop-1'],
    ['keycloak', { clients: [keycloakClientOf('a')] }, 'a'],
  ])('of %s has to send its secret here, too, and a public one none', async (from, content, id) => {
    const { ostiary, run } = await installation({ refreshTokens: {}, verifyImportedSecret: () => true });
    expect((await run(from, content)).code).toBe(0);
    expect(await ostiary.admin.clients.get(id)).toMatchObject({ requireSecret: true, public: false });
    const spa = { ...metadata, client_id: 'spa', token_endpoint_auth_method: 'none' };
    await run('oidc-provider', [spa]);
    expect(await ostiary.admin.clients.get('spa')).toMatchObject({ requireSecret: false, public: true });
  });

  it('of Keycloak whose secret has expired is refused, and one whose secret will end is told of', async () => {
    const { ostiary, run } = await installation({ refreshTokens: {} });
    const ending = (id: string, end: number) =>
      keycloakClientOf(id, { attributes: { 'client.secret.expiration.time': String(end) } });
    const seconds = Math.floor(Date.now() / 1000);
    const clients = [ending('ended', seconds - 1), ending('ends', 4_000_000_000), ending('endless', 0)];
    const { code, out } = await run('keycloak', { clients });
    expect(code).toBe(1);
    expect(out).toMatch(/ended +REFUSED +its secret has expired/);
    expect(out).toMatch(/ends +created +.*the end of its secret on 2096-10-02/);
    expect(await ostiary.admin.clients.get('ended')).toBeNull();
    expect(await ostiary.admin.clients.get('endless')).not.toBeNull();
  });
});

describe('consents', () => {
  it('have no scope that the user rejected, and other permissions are reported', async () => {
    const { ostiary, run } = await installation({ refreshTokens: {} });
    const openid = { scope: 'openid profile kyc', claims: ['email'] };
    const rejected = { openid: { scope: 'openid kyc', claims: ['email'] }, resources: {} };
    const resources = { 'https://api.example': 'read' };
    const given = { ...grant, openid, rejected, resources };
    const { out } = await run('oidc-provider', [metadata, given, { ...grant, accountId: 'b', exp: 1 }]);
    expect(await ostiary.consents.list(grant.accountId)).toMatchObject([{ scopes: ['openid', 'profile'] }]);
    expect(out).toContain(
      '1 consent imported\n1 left out: they have expired\n1 without single claims\n1 without scopes of resources',
    );
  });

  it('that are left out are counted by reason', async () => {
    const { run } = await installation({ refreshTokens: {}, verifyImportedSecret: () => true });
    const sessions = [
      hydraConsent,
      { ...hydraConsent, remember: false },
      { ...hydraConsent, consent_request: {} },
    ];
    const { out } = await run('hydra', [hydraClient, ...sessions], '--json');
    expect(JSON.parse(out).consents).toMatchObject({
      ...{ imported: 1, omitted: { notRemembered: 1, incomplete: 1 }, left: {} },
    });
  });

  it('of users whose ids Ostiary does not take are left out, also in a trial', async () => {
    const { ostiary, run } = await installation({ refreshTokens: {}, verifyImportedSecret: () => true });
    const of = (subject: string) => ({
      ...hydraConsent,
      consent_request: { ...hydraConsent.consent_request, subject },
    });
    const items = [hydraClient, of('jos\u00e9'), of('x'.repeat(256)), of('ana')];
    for (const flags of [['--dry-run'], []]) {
      const { code, out } = await run('hydra', items, '--json', ...flags);
      expect([code, JSON.parse(out).consents]).toMatchObject([
        0,
        { imported: 1, omitted: { unfitUserId: 2 } },
      ]);
    }
    expect(await ostiary.consents.list('ana')).toHaveLength(1);
  });
});
