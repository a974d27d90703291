import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { scopeNames } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { DocumentHost } from '../support/document-host.ts';
import { loggingOut } from '../support/logging-out.ts';
import { pkce, type TestClient, type TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const scopes = ['openid', 'profile', 'offline_access'];
const clientMetadataDocuments = { scopes, allowPrivateDocuments: true };
const host = await DocumentHost.start();
const provider = await startProvider({ clientMetadataDocuments, refreshTokens: {} });
const minute = 60_000;

let documents = 0;

/**
 * Publishes the metadata document of a new app. The app's redirect URI is a loopback address with a port of
 * its own.
 */
function newApp(changes: object = {}, headers: Record<string, string> = {}): TestClient {
  documents += 1;
  const path = `/app-${documents}/client.json`;
  const id = host.document(path, { ...changes }, headers);
  return { id, secret: null, redirectUri: `http://127.0.0.1:${40_000 + documents}/callback` };
}

const pathOf = ({ id }: TestClient): string => new URL(id).pathname;
const readsOf = (app: TestClient): number => host.requests.filter((path) => path === pathOf(app)).length;
const challenge = () => pkce().bound;

/** Returns the result of an authorization request: the consent page, or an error with its description. */
async function resultOf(app: TestClient, changes: Record<string, string | undefined> = {}, at = provider) {
  const answer = await at.browser().get(at.authorizeUrl(app, { ...challenge(), ...changes }));
  const description = /<code dir="auto">\w+: ([^<]*)/.exec(answer.text)?.[1];
  return description === undefined ? answer.outcome : `${answer.outcome}: ${description}`;
}

describe('without the option', () => {
  it('the URL of a document is an unknown client, and is not read', async () => {
    const plain = await startProvider();
    const app = newApp();
    expect(await resultOf(app, {}, plain)).toBe('401 invalid_client: The client is not known.');
    expect(await plain.redeem(app, 'code', { code_verifier: 'x' })).toBe('401 invalid_client');
    expect(readsOf(app)).toBe(0);
    const metadata = (await plain.request('/.well-known/oauth-authorization-server')).json();
    expect(metadata).not.toHaveProperty('client_id_metadata_document_supported');
  });
});

describe('the option', () => {
  it.each([
    [{}, 'clientMetadataDocuments.scopes: is missing'],
    [{ scopes: [] }, 'clientMetadataDocuments.scopes: is empty'],
    [{ scopes: ['openid', 'all'] }, 'clientMetadataDocuments.scopes: all is no scope'],
    [{ scopes: ['openid', 'offline_access'] }, 'clientMetadataDocuments.scopes: offline_access is no scope'],
    [{ scopes: ['openid'], allow: true }, 'clientMetadataDocuments.allow'],
    [{ scopes: ['openid'], dangerous: true }, 'unknown option dangerous'],
  ])('is refused as %j', async (given, message) => {
    await expect(startProvider({ clientMetadataDocuments: given } as never)).rejects.toThrow(message);
  });

  it('allows documents at private addresses on loopback only', async () => {
    const message = 'clientMetadataDocuments.allowPrivateDocuments: authUrl and baseUrl have to be loopback';
    const authUrl = 'https://id.example';
    await expect(startProvider({ clientMetadataDocuments, authUrl, refreshTokens: {} })).rejects.toThrow(
      message,
    );
  });

  it('is in the metadata', async () => {
    for (const path of ['oauth-authorization-server', 'openid-configuration'])
      expect((await provider.request(`/.well-known/${path}`)).json()).toMatchObject({
        client_id_metadata_document_supported: true,
      });
  });
});

describe('an app with a document', () => {
  it('signs its user in on any port, calls, refreshes, and ends what it was given', async () => {
    const app = newApp();
    const tokens = await provider.tokens(app, { scope: 'openid profile offline_access', nonce: 'n-1' });
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'openid profile offline_access' });
    expect(decodeJwt(String(tokens.id_token))).toMatchObject({ aud: app.id, sub: ana.sub, nonce: 'n-1' });
    expect(await provider.isAlive(tokens.access_token)).toBe(true);
    const refreshed = await provider.call('/v1/oauth/token', {
      ...{ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: app.id },
    });
    expect(refreshed.outcome).toBe('200 ok');
    const next = refreshed.json();
    expect((await provider.revoke(String(next.refresh_token))).json()).toEqual({ ok: true });
    expect(await provider.isAlive(next.access_token)).toBe(false);
    expect(readsOf(app), 'all of it with one request for the document').toBe(1);
  });

  it('must use PKCE, and a secret is refused', async () => {
    const app = newApp();
    const callback = await provider.authorize(app);
    expect([callback.get('error'), callback.get('error_description')]).toEqual([
      'invalid_request',
      'This client has to use PKCE: code_challenge is missing.',
    ]);
    const { code, verifier } = await provider.boundCode(app);
    expect(await provider.redeem(app, code, { code_verifier: verifier, client_secret: 'x' })).toBe(
      '401 invalid_client',
    );
    expect(await provider.redeem(app, code)).toBe('400 invalid_grant');
    expect(await provider.redeem(app, code, { code_verifier: verifier })).toBe('200 ok');
  });

  it('may ask for the scopes of the option and no others', async () => {
    const refused = await provider.authorize(newApp(), { ...challenge(), scope: 'openid kyc' });
    expect(refused.get('error_description')).toBe(
      "Not allowed: kyc. This client's allowedScopes: openid profile offline_access.",
    );
  });

  it('is asked for its consent every time, under the name of its host', async () => {
    const app = newApp({ redirect_uris: ['https://app.example/callback'] });
    const web = { ...app, redirectUri: 'https://app.example/callback' };
    for (const round of [1, 2]) {
      const page = await openConsent(provider, web, challenge());
      expect(page.text, `round ${round}`).toContain(
        `<bdi>${new URL(app.id).host}</bdi></span> <span class="ask">`,
      );
      expect(page.text).toContain('Nobody at <bdi>Ostiary</bdi> has checked this app.');
      expect(page.text).toContain('It calls itself <bdi>Assistant</bdi>.');
      expect(page.text).not.toContain('It answers to your own device alone');
      await page.finish();
    }
    expect(await provider.attempt(web, { ...challenge(), prompt: 'none' })).toBe('400 consent_required');
  });

  it('is warned of where the answer goes to a program on the device', async () => {
    const page = await openConsent(provider, newApp(), challenge());
    expect(page.text).toContain('It answers to your own device alone');
    const scheme = 'com.example.app:/callback';
    const native = { ...newApp({ redirect_uris: [scheme], client_name: undefined }), redirectUri: scheme };
    const { text } = await openConsent(provider, native, challenge());
    expect(text).toContain('It answers to your own device alone');
    expect(text).not.toContain('It calls itself');
  });

  it('is described to a consent page of the host', async () => {
    const shown: unknown[] = [];
    const consent = ({ client }: { client: unknown }) => {
      shown.push(client);
      return '<!doctype html><title>Own</title>';
    };
    const own = await startProvider({ clientMetadataDocuments, refreshTokens: {}, pages: { consent } });
    const app = newApp();
    await own.follow(own.browser(), own.authorizeUrl(app, challenge()));
    expect(shown).toEqual([
      {
        clientId: app.id,
        name: new URL(app.id).host,
        document: { claimedName: 'Assistant', returnsToDevice: true },
      },
    ]);
  });

  it('is among the connected apps, and is removed there by its user', async () => {
    const app = newApp();
    const tokens = await provider.tokens(app, { scope: 'openid offline_access' });
    const browser = provider.browser();
    const { text } = await browser.get(`${provider.site}/account/apps`);
    expect(text).toContain(`<h2><bdi>${new URL(app.id).host}</bdi></h2>`);
    const name = `~${Buffer.from(app.id).toString('base64url')}`;
    const csrf = (await provider.connectedApps(browser)).get(name) ?? '';
    const removed = await browser.post(`${provider.site}/account/apps/${name}/revoke`, { csrf });
    expect(removed.location).toContain(`${provider.site}/account/apps?notice=removed&app=`);
    expect(await provider.isAlive(tokens.access_token)).toBe(false);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: app.id };
    expect((await provider.call('/v1/oauth/token', refresh)).outcome).toBe('400 invalid_grant');
    expect((await provider.connectedApps(browser)).has(name)).toBe(false);
  });

  it('signs its user out', async () => {
    const { provider: site, signedOut } = await loggingOut({ clientMetadataDocuments, refreshTokens: {} });
    const app = newApp({ post_logout_redirect_uris: ['http://127.0.0.1/bye'] });
    const { id_token } = await site.tokens(app);
    const browser = site.browser();
    const bye = 'http://127.0.0.1:9999/bye';
    const query = { id_token_hint: String(id_token), post_logout_redirect_uri: bye, client_id: app.id };
    const page = await browser.get(`${site.site}/oauth/logout?${new URLSearchParams(query)}`);
    expect([page.location, signedOut]).toEqual([bye, [browser.name]]);
    const other = { ...query, post_logout_redirect_uri: 'http://127.0.0.1:9999/other' };
    const refused = await browser.get(`${site.site}/oauth/logout?${new URLSearchParams(other)}`);
    expect(refused.outcome).toBe('400 redirect_uri_mismatch');
  });

  it('sends nobody to its website before the user was asked', async () => {
    const { provider: site } = await loggingOut({
      clientMetadataDocuments,
      refreshTokens: {},
      claimsParameter: true,
    });
    const own = 'https://phish.example/sign-in';
    const app = { ...newApp({ redirect_uris: [own], post_logout_redirect_uris: [own] }), redirectUri: own };
    const results = [{ response_type: 'x' }, { scope: 'all' }, { prompt: 'none' }, { code_challenge: 'x' }];
    for (const user of [null, ana.sub]) {
      const browser = site.browser(user);
      for (const changes of results) {
        const answer = await browser.get(site.authorizeUrl(app, { ...challenge(), ...changes }));
        expect([answer.status, answer.location], JSON.stringify(changes)).toEqual([400, null]);
      }
    }
    const other = { claims: JSON.stringify({ id_token: { sub: { value: 'nobody' } } }) };
    const browser = site.browser(null);
    const begun = await browser.get(site.authorizeUrl(app, { ...challenge(), ...other }));
    site.signIn(browser, ana.sub);
    const asked = await browser.get(begun.location ?? '');
    expect([asked.outcome, asked.location]).toEqual(['400 login_required', null]);
    const query = new URLSearchParams({ client_id: app.id, post_logout_redirect_uri: own });
    const left = await site.browser(null).get(`${site.site}/oauth/logout?${query}`);
    expect([left.status, left.location]).toEqual([200, null]);
    const denied = await site.follow(site.browser(), site.authorizeUrl(app, challenge()), 'deny');
    expect(denied.location).toContain(`${own}?error=access_denied`);
  });

  it('may read responses from pages of its own origin', async () => {
    const origin = 'https://spa.example';
    const app = newApp({ redirect_uris: [`${origin}/callback`] });
    const preflight = { origin, 'access-control-request-method': 'POST' };
    const ask = () => provider.request('/v1/oauth/token', { method: 'OPTIONS', headers: preflight });
    expect((await ask()).headers.get('access-control-allow-origin')).toBeNull();
    await resultOf({ ...app, redirectUri: `${origin}/callback` });
    expect((await ask()).headers.get('access-control-allow-origin')).toBe(origin);
  });
});

describe('a document', () => {
  it('is read again when it was kept as long as its headers say', async () => {
    const app = newApp({}, { 'cache-control': 'max-age=3600' });
    await resultOf(app);
    provider.clock.advance(60 * minute - 1);
    expect([await resultOf(app), readsOf(app)]).toEqual(['303 interaction', 1]);
    provider.clock.advance(1);
    expect([await resultOf(app), readsOf(app)]).toEqual(['303 interaction', 2]);
  });

  it('is read again after the clock was set back', async () => {
    const app = newApp({}, { 'cache-control': 'max-age=3600' });
    await resultOf(app);
    provider.clock.advance(-120 * minute);
    expect([await resultOf(app), readsOf(app)]).toEqual(['303 interaction', 2]);
  });

  it('is read once for requests at the same time', async () => {
    const app = newApp();
    const results = await Promise.all(Array.from({ length: 8 }, () => resultOf(app)));
    expect(new Set(results)).toEqual(new Set(['303 interaction']));
    expect(readsOf(app)).toBe(1);
  });

  it('that cannot be used leads to an error page without a redirect, and is not stored', async () => {
    const app = newApp({ client_id: 'https://other.example/client.json' });
    const problem =
      '401 invalid_client: The client ID metadata document cannot be used: its client_id is not its URL.';
    expect(await resultOf(app)).toBe(problem);
    host.document(pathOf(app));
    expect(await resultOf(app)).toBe('303 interaction');
    const gone = { ...app, id: `${host.origin}/gone` };
    expect(await resultOf(gone)).toBe(
      '401 invalid_client: The client ID metadata document cannot be used: the server answered with status 404.',
    );
  });

  it('that was stored and disappears stops new requests; tokens stay valid', async () => {
    const app = newApp();
    const { refresh_token } = await provider.tokens(app, { scope: 'openid offline_access' });
    host.serve(pathOf(app), { status: 404, body: '' });
    provider.clock.advance(5 * minute);
    expect(await resultOf(app)).toContain(
      '401 invalid_client: The client ID metadata document cannot be used',
    );
    const refresh = { grant_type: 'refresh_token', refresh_token, client_id: app.id };
    expect((await provider.call('/v1/oauth/token', refresh)).outcome).toBe('200 ok');
  });

  it('whose URL the host does not allow is not read, and its tokens end', async () => {
    const refused = new Set<string>();
    const allow = async (url: URL) => !refused.has(url.href);
    const own = await startProvider({
      clientMetadataDocuments: { ...clientMetadataDocuments, allow },
      refreshTokens: {},
    });
    const [app, other] = [newApp(), newApp()];
    const { refresh_token } = await own.tokens(app, { scope: 'openid offline_access' });
    for (const { id } of [app, other]) refused.add(id);
    for (const client of [app, other])
      expect(await resultOf(client, {}, own)).toBe('401 invalid_client: The client is not known.');
    const refresh = { grant_type: 'refresh_token', refresh_token, client_id: app.id };
    expect((await own.call('/v1/oauth/token', refresh)).outcome).toBe('401 invalid_client');
    expect(readsOf(other)).toBe(0);
  });
});

describe('a document that changes', () => {
  const other = 'http://127.0.0.1/other';

  /**
   * Changes the redirect URIs in an app's metadata document, and lets another request read the document
   * again.
   */
  async function changeCallbacks(
    app: TestClient,
    redirectUris: readonly string[],
    at: TestProvider = provider,
  ) {
    host.document(pathOf(app), { redirect_uris: redirectUris });
    at.clock.advance(5 * minute);
    await resultOf({ ...app, redirectUri: redirectUris[0] ?? '' }, {}, at);
  }

  it('while its user is asked stops the request whose callback is gone', async () => {
    const app = newApp();
    const page = await openConsent(provider, app, challenge());
    await changeCallbacks(app, [other]);
    expect((await page.approve()).outcome).toBe('400 redirect_uri_mismatch');
  });

  it('between approval and code stops the request, too', async () => {
    const app = newApp();
    const page = await openConsent(provider, app, challenge());
    const approved = await page.approve();
    await changeCallbacks(app, [other]);
    expect((await page.browser.get(approved.location ?? '')).outcome).toBe('400 redirect_uri_mismatch');
  });

  it('after the code leaves it bound to the callback of its request', async () => {
    const app = newApp();
    const { code, verifier } = await provider.boundCode(app);
    await changeCallbacks(app, [other]);
    const redeem = (redirect_uri: string) =>
      provider.redeem(app, code, { code_verifier: verifier, redirect_uri });
    expect(await redeem(other)).toBe('400 invalid_grant');
    expect(await redeem('http://127.0.0.1/third')).toBe('400 redirect_uri_mismatch');
    expect(await redeem(app.redirectUri)).toBe('200 ok');
  });

  it('takes new callbacks from the next reading on', async () => {
    const app = newApp();
    const moved = { ...app, redirectUri: other };
    expect(await resultOf(app)).toBe('303 interaction');
    host.document(pathOf(app), { redirect_uris: [other] });
    expect(await resultOf(moved)).toContain('400 redirect_uri_mismatch');
    provider.clock.advance(5 * minute);
    expect(await resultOf(moved)).toBe('303 interaction');
    expect(await resultOf(app)).toContain('400 redirect_uri_mismatch');
  });
});

describe('administrators', () => {
  const { clients } = provider.ostiary.admin;

  it('see clients with documents in a separate list, and cannot change them', async () => {
    const app = newApp();
    await resultOf(app);
    const listed = async (documents: boolean) => {
      const { clients: page } = await clients.list({ documents, limit: 500 });
      return page.map(({ clientId }) => clientId).includes(app.id);
    };
    expect([await listed(false), await listed(true)]).toEqual([false, true]);
    expect(await clients.get(app.id)).toMatchObject({
      name: new URL(app.id).host,
      allowedScopes: scopes,
      public: true,
      document: { claimedName: 'Assistant' },
    });
    await expect(clients.update(app.id, { name: 'Bank' })).rejects.toThrow(
      'described by its metadata document',
    );
    await expect(clients.update(app.id, { firstParty: true })).rejects.toThrow(TypeError);
    await expect(clients.setLogo(app.id, null)).rejects.toThrow(TypeError);
    await expect(
      clients.create({ name: 'x', clientId: app.id, redirectUris: [], allowedScopes: scopeNames }),
    ).rejects.toThrow('clientId');
  });

  it('disable a client without reading its document, until it is enabled again', async () => {
    const app = newApp();
    const { access_token } = await provider.tokens(app);
    await clients.disable(app.id);
    expect(await provider.isAlive(access_token)).toBe(false);
    provider.clock.advance(25 * 60 * minute);
    expect(await resultOf(app)).toBe('401 invalid_client: The client is not known.');
    expect(readsOf(app)).toBe(1);
    await clients.enable(app.id);
    expect(await resultOf(app)).toBe('303 interaction');
  });
});

it('the worker removes clients whose documents were not used for 30 days', async () => {
  const own = await startProvider({ clientMetadataDocuments, refreshTokens: {} });
  const app = newApp();
  await own.tokens(app);
  own.clock.advance(30 * 24 * 60 * minute);
  const { admin, consents } = own.ostiary;
  expect(await admin.purge()).toMatchObject({ grants: 1, clientDocuments: 0 });
  own.clock.advance(1);
  expect(await admin.purge()).toMatchObject({ clientDocuments: 1 });
  expect([await admin.clients.get(app.id), await consents.list(ana.sub)]).toEqual([null, []]);
  expect(await resultOf(app, {}, own)).toBe('303 interaction');
});
