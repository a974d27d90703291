import { join } from 'node:path';
import { Provider } from 'oidc-provider';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../core/test/support/running.ts';
import { grant, hydraClient, hydraConsent, metadata } from './samples.ts';
import { folder, installation, written } from './support.ts';

const options = { verifyImportedSecret: () => true, refreshTokens: {} };

describe('an import from oidc-provider', () => {
  it('creates clients with their settings, and valid consents', async () => {
    const { ostiary, run } = await installation(options);
    const expired = { ...grant, accountId: 'user-3', exp: 1_000_000_000 };
    const rows = [metadata, grant, expired, { kind: 'Session', uid: 'x' }];
    const { code, out } = await run('oidc-provider', rows);
    expect([code, out]).toEqual([0, expect.stringContaining('1 consent imported')]);
    expect(await ostiary.admin.clients.get('kafe')).toMatchObject({
      name: 'Kafe',
      public: false,
      redirectUris: ['https://kafe.example/cb'],
      postLogoutRedirectUris: ['https://kafe.example/'],
      allowedScopes: ['openid', 'profile', 'offline_access'],
      idTokenAlg: 'ES256',
      termsUrl: 'https://kafe.example/terms',
      privacyUrl: 'https://kafe.example/privacy',
    });
    expect(await ostiary.consents.list('user-1')).toMatchObject([
      { clientId: 'kafe', scopes: ['openid', 'profile'], grantedAt: new Date(1_700_000_000_000) },
    ]);
    expect(await ostiary.consents.list('user-3')).toEqual([]);
  });

  it('reads documents with a payload, one a line, a payload that is text, and a configuration', async () => {
    const rows = [
      { _id: 'kafe', payload: metadata },
      { id: 'x', payload: JSON.stringify(grant) },
    ];
    for (const content of [rows, rows.map((row) => JSON.stringify(row)).join('\n')]) {
      const { ostiary, run } = await installation(options);
      expect((await run('oidc-provider', content)).code).toBe(0);
      expect(await ostiary.consents.list('user-1')).toHaveLength(1);
    }
    const { run } = await installation(options);
    expect((await run('oidc-provider', { clients: [metadata] })).out).toMatch(/kafe +created/);
    const alone = { ...metadata, client_id: 'alone' };
    expect((await run('oidc-provider', { _id: 'alone', payload: alone })).out).toMatch(/alone +created/);
  });

  it('reads files whose names contain spaces and commas', async () => {
    const { ostiary, run } = await installation(options);
    const file = await written([grant], 'my consents, old.json');
    expect((await run('oidc-provider', [metadata], '--file', file)).code).toBe(0);
    expect(await ostiary.consents.list('user-1')).toHaveLength(1);
  });

  it('does nothing in a trial but say what it would do', async () => {
    const { ostiary, run } = await installation(options);
    const bad = { ...metadata, client_id: 'bad', redirect_uris: ['http://x.example/'] };
    const { code, out, err } = await run('oidc-provider', [metadata, bad, grant], '--dry-run');
    expect(out).toMatch(/kafe +would be created/);
    expect(out).toMatch(/bad +REFUSED +redirectUris\.0/);
    expect(out).toContain('1 consent would be imported');
    expect([code, err]).toEqual([1, expect.stringContaining('1 client refused')]);
    expect((await ostiary.admin.clients.list()).clients).toEqual([]);
    expect((await ostiary.admin.audit.list()).entries).toEqual([]);
  });

  it('can be repeated: what is here stays as it is, and what was revoked stays revoked', async () => {
    const { ostiary, run } = await installation(options);
    await run('oidc-provider', [metadata, grant]);
    await ostiary.admin.clients.update('kafe', { name: 'Renamed' });
    await ostiary.consents.revoke('user-1', 'kafe');
    const { code, out } = await run('oidc-provider', [metadata, grant]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/kafe +exists\s+0 consents imported\n1 left as they/),
    ]);
    expect((await ostiary.admin.clients.get('kafe'))?.name).toBe('Renamed');
    expect(await ostiary.consents.list('user-1')).toEqual([]);
    const later = await run('oidc-provider', [{ ...grant, accountId: 'user-2' }]);
    expect(later.out).toContain('1 consent imported');
  });

  it.each([
    [{ client_secret: undefined }, /its secret is not in the file/],
    [{ client_secret: 'short' }, /clientSecret: .*20/],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, /authenticates by private_key_jwt/],
    [{ grant_types: ['client_credentials'] }, /authorization code grant/],
    [{ client_secret_expires_at: 1_000_000_000 }, /secret has expired/],
    [{ scope: undefined }, /say with --scope/],
    [{ scope: 'unknown' }, /allowedScopes/],
    [{ client_id: 'with space' }, /clientId/],
    [{ backchannel_logout_uri: 'https://127.0.0.1/' }, /backchannelLogoutUri/],
  ])('refuses a client with %j, and tells why', async (changes, reason) => {
    const { ostiary, run } = await installation(options);
    const { code, out } = await run('oidc-provider', [{ ...metadata, ...changes }, grant]);
    expect([code, out]).toEqual([1, expect.stringMatching(reason)]);
    expect(out).toContain('1 left out: their client is not here');
    expect(out).not.toContain(metadata.client_secret);
    expect((await ostiary.admin.clients.list()).clients).toEqual([]);
  });

  it('reports settings that are lost, renames scopes, and adds default scopes to clients without any', async () => {
    const { ostiary, run } = await installation();
    const odd = {
      ...{ ...metadata, scope: 'openid user:read admin', id_token_signed_response_alg: 'PS256' },
      ...{ grant_types: ['authorization_code', 'implicit'], subject_type: 'pairwise' },
    };
    const plain = { ...metadata, client_id: 'plain', scope: undefined };
    const flags = ['--rename-scope', 'user:read=profile', '--scope', 'openid,kyc'];
    const { code, out } = await run('oidc-provider', [odd, plain], ...flags);
    expect(code).toBe(0);
    expect(out).toMatch(
      /kafe +created +without grants: implicit; ID tokens by PS256; pairwise subjects; scopes: admin/,
    );
    expect((await ostiary.admin.clients.get('kafe'))?.allowedScopes).toEqual(['openid', 'profile']);
    expect((await ostiary.admin.clients.get('plain'))?.allowedScopes).toEqual(['openid', 'kyc']);
  });

  it('replaces user ids with those of this service', async () => {
    const { ostiary, run } = await installation(options);
    const subjects = await written({ 'user-1': 'kid-1' });
    const other = { ...grant, accountId: 'user-2' };
    const { out } = await run('oidc-provider', [metadata, grant, other], '--subjects', subjects);
    expect(out).toContain('1 consent imported\n1 left out: their user is not among the subjects');
    expect(await ostiary.consents.list('kid-1')).toHaveLength(1);
    expect(await ostiary.consents.list('user-1')).toEqual([]);
  });
});

describe('the data of a real oidc-provider', () => {
  it('is imported, and the app continues with its secret', async () => {
    const rows: unknown[] = [];
    class Adapter {
      async upsert(id: string, payload: unknown) {
        rows.push({ _id: id, payload });
      }
      async find() {}
      async findByUid() {}
      async findByUserCode() {}
      async consume() {}
      async destroy() {}
      async revokeByGrantId() {}
    }
    const old = new Provider('https://old.example', {
      adapter: Adapter,
      features: { registration: { enabled: true } },
    });
    const server = await serve(old.callback());
    const registration = await fetch(`${server}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{
          client_name: 'Old app',
          redirect_uris: ['https://app.example/cb'],
          scope: 'openid offline_access',
        },
        grant_types: ['authorization_code', 'refresh_token'],
      }),
    });
    const { client_id: clientId, client_secret: secret } = await registration.json();
    const given = new old.Grant({ accountId: 'user-1', clientId });
    given.addOIDCScope('openid offline_access');
    await given.save();

    const { provider, ostiary, run } = await installation(options);
    const { code, out } = await run('oidc-provider', rows);
    expect([code, out]).toEqual([0, expect.stringContaining('1 consent imported')]);
    expect(out).not.toContain('without');
    expect(await ostiary.admin.clients.get(clientId)).toMatchObject({
      ...{ name: 'Old app', redirectUris: ['https://app.example/cb'], public: false },
      allowedScopes: ['openid', 'offline_access'],
    });
    expect(await ostiary.consents.list('user-1')).toMatchObject([
      { clientId, scopes: ['openid', 'offline_access'] },
    ]);
    const app = { id: clientId, secret, redirectUri: 'https://app.example/cb' };
    expect(await provider.token(app)).toMatch(/^svc_at_/);
    expect(await provider.token({ ...app, secret: `${secret}x` })).not.toMatch(/^svc_at_/);
  });
});

describe('an import from Hydra', () => {
  it('imports clients with hashed secrets, and remembered consent sessions', async () => {
    const { ostiary, run } = await installation(options);
    const { code, out } = await run('hydra', {
      items: [hydraClient],
      next_page_token: '',
      is_last_page: true,
    });
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /shop-1 +created +its secret is hashed; without other ports of its loopback addresses\n/,
      ),
    ]);
    expect(await ostiary.admin.clients.get('shop-1')).toMatchObject({
      ...{ name: 'Shop', allowedScopes: ['openid', 'offline_access', 'profile'] },
      ...{ firstParty: false, secrets: [{ imported: true }], redirectUris: hydraClient.redirect_uris },
      postLogoutRedirectUris: ['https://shop.example/bye'],
    });
    const once = { ...hydraConsent, remember: false };
    expect((await run('hydra', [hydraConsent, once])).out).toContain('1 consent imported');
    expect(await ostiary.consents.list('user-1')).toMatchObject([
      { clientId: 'shop-1', scopes: ['openid', 'offline_access', 'profile'] },
    ]);
    const [{ grantedAt } = { grantedAt: null }] = await ostiary.consents.list('user-1');
    expect(grantedAt).toEqual(new Date('2026-11-25T21:19:36.783Z'));
  });

  it('uses only the latest session in any order of the list, and leaves out sessions of limited validity', async () => {
    const session = (sub: string, scopes: readonly string[], second: number, changes: object = {}) => ({
      ...{ ...hydraConsent, grant_scope: scopes, handled_at: `2026-11-25T21:19:${second}.1Z` },
      ...{ consent_request: { ...hydraConsent.consent_request, subject: sub }, ...changes },
    });
    const sessions = [
      session('user-1', ['openid'], 30),
      session('user-1', ['openid', 'profile'], 20),
      session('user-1', ['openid', 'profile', 'kyc'], 40, { remember: false }),
      session('user-2', ['openid'], 10),
      session('user-2', ['openid', 'profile'], 50, { remember_for: 3600 }),
    ];
    const { ostiary, run } = await installation(options);
    const { out } = await run('hydra', [hydraClient, ...sessions]);
    expect(out).toContain('1 consent imported\n1 left out: they are valid for a limited time');
    expect(await ostiary.consents.list('user-1')).toMatchObject([{ scopes: ['openid'] }]);
    expect(await ostiary.consents.list('user-2')).toEqual([]);
  });

  it('reads concatenated pages and lists', async () => {
    const other = { ...hydraClient, client_id: 'shop-2' };
    const pages = [{ items: [hydraClient] }, { items: [other] }, [hydraConsent], []];
    const { out, code } = await (await installation(options)).run(
      'hydra',
      pages.map((page) => JSON.stringify(page)).join('\n'),
    );
    expect(code).toBe(0);
    for (const id of ['shop-1', 'shop-2']) expect(out).toMatch(new RegExp(`${id} +created`));
    expect(out).toContain('1 consent imported');
  });

  it('gives a client without grant types the authorization code grant, like Hydra', async () => {
    const { run } = await installation(options);
    const unnamed = { ...hydraClient, grant_types: [], response_types: [], scope: 'openid offline' };
    expect((await run('hydra', [unnamed])).out).toMatch(/shop-1 +created/);
    const machine = { ...hydraClient, client_id: 'm', grant_types: ['client_credentials'] };
    expect((await run('hydra', [machine])).out).toMatch(/m +REFUSED +it does not use the authorization code/);
  });

  it('reports settings of a client that are not supported here', async () => {
    const { run } = await installation(options);
    const more = { userinfo_signed_response_alg: 'RS256', access_token_strategy: 'jwt', audience: ['api'] };
    expect((await run('hydra', [{ ...hydraClient, ...more, skip_consent: true }])).out).toContain(
      'without access tokens that are JWTs; audience: api; sign-ins without a consent page; signed userinfo',
    );
  });

  it('refuses a hashed secret without a function that verifies it, and a missing secret', async () => {
    const { run } = await installation({ refreshTokens: {} });
    expect((await run('hydra', [hydraClient])).out).toMatch(
      /REFUSED +clientSecretHash: .*verifyImportedSecret/,
    );
    expect((await run('hydra', [{ ...hydraClient, client_secret: undefined }])).out).toMatch(
      /not in the file/,
    );
  });
});

describe('what cannot be imported', () => {
  it.each([
    ['keycloak', '{', 'is not JSON'],
    ['keycloak', [], 'must be a realm'],
    ['keycloak', {}, 'must be a realm'],
    ['hydra', { clients: 1 }, 'must be a list'],
    ['oidc-provider', { a: 1 }, 'neither clients nor consents'],
    ['hydra', [[], { items: [] }], 'neither clients nor consents'],
    ['oidc-provider', [{ payload: '{' }], 'JSON'],
    ['logto', [], '--from'],
  ])('from %s: %j', async (from, content, problem) => {
    const { run } = await installation();
    const { code, err } = await run(from, content);
    expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
  });

  it('is reported before anything is read', async () => {
    const { run } = await installation();
    const missing = join(folder, 'missing.json');
    const told = async (...flags: string[]) => (await run('hydra', [], ...flags)).err;
    expect(await told('--file', missing)).toContain('there is no file');
    expect(await told('--file', folder)).toContain('cannot be read');
    expect(await told('--rename-scope', 'a')).toContain('an equals sign');
    expect(await told('--subjects', await written({ a: 1 }))).toContain('must be a JSON object');
  });

  it('ignores members of a wrong type', async () => {
    const odd = [null, 1, 'x', [], { client_id: 1 }, { payload: null }];
    const { run } = await installation();
    expect((await run('oidc-provider', odd)).err).toContain('neither clients nor consents');
    const { out } = await run('oidc-provider', [{ kind: 'Grant', openid: 1 }]);
    expect(out).toContain('1 left out: they name no user or no client');
    const types = { client_id: 'a', redirect_uris: 'x', scope: 1, grant_types: {}, client_name: [] };
    expect((await run('oidc-provider', [types])).out).toMatch(/a +REFUSED/);
    expect((await run('keycloak', { clients: [null, { clientId: {} }], users: [null, 7] })).code).toBe(1);
    expect((await run('hydra', [null, { consent_request: 1 }])).out).toContain(
      '1 left out: they name no user',
    );
  });
});
