import { describe, expect, it } from 'vitest';
import { type HostResources, type HostScopes, scopeNames } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { basic, type TestClient, type TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const [wallet, tools] = ['https://api.example/wallet', 'https://tools.example'];
const consent = {
  en: { title: 'Use it', detail: 'In your name.' },
  fr: { title: 'S’en servir', detail: 'En votre nom.' },
};
const scopes: HostScopes = { 'wallet:pay': { consent }, 'tools:run': { consent }, 'tools:edit': { consent } };
const resources = {
  [wallet]: { name: 'Wallet API', scopes: ['wallet:pay'] },
  [tools]: { name: 'Tools & more', scopes: ['tools:run', 'tools:edit'] },
};
const options = { scopes, resources, refreshTokens: {}, introspection: true };
const allowedScopes = [...scopeNames, ...Object.keys(scopes), 'offline_access'];

const provider = await startProvider(options);
const app = await provider.client({ allowedScopes });
const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
const { tokens } = provider.ostiary;

/** Returns the URL of an authorization request that names the given resources. */
const urlFor = (asked: readonly string[], scope: string, client: TestClient = app): string =>
  provider.authorizeUrl(client, { scope }) +
  asked.map((uri) => `&resource=${encodeURIComponent(uri)}`).join('');

/** Signs in, approves, and returns the parameters of the callback. */
async function callbackFor(asked: readonly string[], scope: string, browser = provider.browser()) {
  const { location } = await provider.follow(browser, urlFor(asked, scope));
  return new URL(location ?? '').searchParams;
}

const codeFor = async (asked: readonly string[], scope: string): Promise<string> =>
  (await callbackFor(asked, scope)).get('code') ?? '';

const tokensFor = async (asked: readonly string[], scope: string, changes: Record<string, unknown> = {}) =>
  (await provider.exchange(app, await codeFor(asked, scope), changes)).json();

const refresh = (token: unknown, changes: Record<string, unknown> = {}) =>
  provider.call('/v1/oauth/token', {
    ...{ grant_type: 'refresh_token', refresh_token: token, client_id: app.id, client_secret: app.secret },
    ...changes,
  });

const introspected = async (token: unknown) =>
  (
    await provider.call('/v1/oauth/introspect', { token }, { authorization: basic(api.id, api.secret) })
  ).json();

const reasonOf = async (token: unknown, requirement: { resource?: string; scopes?: string[] } = {}) => {
  const check = await tokens.verify(String(token), requirement);
  return check.active ? 'active' : check.reason;
};

describe('a token that was issued for a resource', () => {
  it.each(['', ' '])('is for the whole grant if the token request names none: %j', async (resource) => {
    const { access_token: token, scope } = await tokensFor([wallet], 'openid wallet:pay', { resource });
    expect(scope).toBe('openid wallet:pay');
    expect(await reasonOf(token, { resource: wallet })).toBe('active');
  });

  it('is accepted by this resource, and refused by others and by APIs that name none', async () => {
    const { access_token: token, scope } = await tokensFor([wallet], 'openid wallet:pay');
    expect(scope).toBe('openid wallet:pay');
    const check = await tokens.verify(String(token), { resource: wallet, scopes: ['wallet:pay'] });
    expect(check).toMatchObject({ active: true, resources: [wallet], scopes: ['openid', 'wallet:pay'] });
    expect(await reasonOf(token, { resource: tools })).toBe('wrong_audience');
    expect(await reasonOf(token)).toBe('wrong_audience');
    expect(await reasonOf(token, { resource: wallet, scopes: ['tools:run'] })).toBe('insufficient_scope');
    expect(await introspected(token)).toMatchObject({ active: true, aud: wallet });
    expect((await provider.userinfo(String(token))).status).toBe(200);
  });

  it('says why it has ended before it says whom it was for', async () => {
    const { access_token: token } = await tokensFor([wallet], 'openid wallet:pay');
    await provider.revoke(String(token));
    expect(await reasonOf(token)).toBe('revoked');
  });

  it('may be for several, in the order of the request, each once', async () => {
    const asked = [tools, wallet, tools];
    const { access_token: token } = await tokensFor(asked, 'openid wallet:pay tools:run');
    expect(await introspected(token)).toMatchObject({ aud: [tools, wallet] });
    for (const resource of [wallet, tools]) expect(await reasonOf(token, { resource })).toBe('active');
  });

  it('finds its resource in each spelling that means the same URI', async () => {
    for (const text of ['https://tools.example/', 'HTTPS://TOOLS.example:443'])
      expect(await introspected((await tokensFor([text], 'openid tools:run')).access_token)).toMatchObject({
        aud: tools,
      });
  });
});

it('a token that was issued for none is refused by every resource', async () => {
  const token = await provider.token(app);
  expect(await reasonOf(token)).toBe('active');
  expect(await tokens.verify(token)).not.toHaveProperty('resources');
  expect(await reasonOf(token, { resource: wallet })).toBe('wrong_audience');
  expect(await introspected(token)).not.toHaveProperty('aud');
});

it('a check for a resource that does not exist is a mistake', async () => {
  const token = await provider.token(app);
  await expect(tokens.verify(token, { resource: 'https://other.example' })).rejects.toThrow(
    'resource: the option resources has no https://other.example',
  );
});

describe('an authorization request', () => {
  it.each([
    ['https://other.example', 'invalid_target'],
    ['https://api.example/wallet/', 'invalid_target'],
    ['https://api.example/wallet#x', 'invalid_target'],
    ['https://user@tools.example', 'invalid_target'],
    ['wallet', 'invalid_target'],
    [`${wallet} ${tools}`, 'invalid_target'],
    ['%ff', 'invalid_request'],
  ])('is refused for the resource %s: %s', async (text, error) => {
    const raw = text.startsWith('%') ? text : encodeURIComponent(text);
    const { location } = await provider.browser().get(`${urlFor([], 'openid')}&resource=${raw}`);
    const callback = new URL(location ?? '');
    expect([callback.origin, callback.searchParams.get('error')]).toEqual(['https://app.example', error]);
    expect(callback.searchParams.get('state')).toBe('a state');
  });

  it('is refused as a whole if one of its resources is unknown', async () => {
    expect((await callbackFor([wallet, 'https://other.example'], 'openid')).get('error')).toBe(
      'invalid_target',
    );
  });

  it('gets the scopes of a resource together with that resource only', async () => {
    const refused = await callbackFor([], 'openid wallet:pay');
    expect([refused.get('error'), refused.get('error_description')]).toEqual([
      'invalid_scope',
      'The parameter resource has to name a resource that these scopes belong to: wallet:pay.',
    ]);
    expect((await callbackFor([tools], 'wallet:pay tools:run')).get('error')).toBe('invalid_scope');
    expect((await callbackFor([tools], 'openid profile')).get('code')).not.toBeNull();
  });

  it('may be posted, with each resource', async () => {
    const form = new URLSearchParams(new URL(urlFor([wallet, tools], 'wallet:pay')).search);
    const browser = provider.browser();
    const { location } = await provider.call('/oauth/authorize', form);
    expect(new URL(location ?? '').searchParams.getAll('resource')).toEqual([wallet, tools]);
    const { location: back } = await provider.follow(browser, location ?? '');
    const code = new URL(back ?? '').searchParams.get('code') ?? '';
    const { access_token: token } = (await provider.exchange(app, code)).json();
    expect(await introspected(token)).toMatchObject({ aud: [wallet, tools] });
  });
});

describe('a pushed authorization request', () => {
  const pushing = { pushedRequests: {} };
  const push = (at: TestProvider, client: TestClient, asked: readonly unknown[]) =>
    at.call('/v1/oauth/par', {
      ...{ response_type: 'code', redirect_uri: client.redirectUri, scope: 'openid wallet:pay' },
      ...{ client_id: client.id, client_secret: client.secret, resource: asked },
    });

  it('names resources too, and is refused for an unknown one', async () => {
    const at = await startProvider({ ...options, ...pushing });
    const client = await at.client({ allowedScopes });
    expect((await push(at, client, ['https://other.example'])).outcome).toBe('400 invalid_target');
    const { request_uri: uri } = (await push(at, client, [wallet, tools])).json();
    const query = new URLSearchParams({ client_id: client.id, request_uri: String(uri) });
    const { location } = await at.follow(at.browser(), `${at.site}/oauth/authorize?${query}`);
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    const token = String((await at.exchange(client, code, { resource: wallet })).json().access_token);
    const check = await at.ostiary.tokens.verify(token, { resource: wallet, scopes: ['wallet:pay'] });
    expect(check).toMatchObject({ active: true, resources: [wallet] });
  });

  it('ignores them without the option', async () => {
    const at = await startProvider({ scopes, ...pushing });
    const client = await at.client({ allowedScopes: [...scopeNames, 'wallet:pay'] });
    expect((await push(at, client, [7])).status).toBe(201);
  });
});

describe('the consent page', () => {
  it('names the resources, and asks again for one that was not approved yet', async () => {
    const client = await provider.client({ allowedScopes });
    const browser = provider.browser();
    const page = await openConsent(provider, client, { scope: 'openid', resource: tools }, browser);
    expect(page.text).toContain('For use at <strong><bdi>Tools &amp; more</bdi></strong>');
    expect(page.text).not.toContain('Wallet API');
    await page.finish();
    // Resources that the user approved, and a part of them, need no consent page again.
    for (const asked of [[tools], []])
      expect((await browser.get(urlFor(asked, 'openid', client))).outcome).toBe('303 code');
    expect((await browser.get(urlFor([wallet, tools], 'openid', client))).outcome).toBe('303 interaction');
    const unasked = await browser.get(`${urlFor([wallet], 'openid', client)}&prompt=none`);
    expect(unasked.outcome).toBe('303 consent_required');
  });

  it('does not mention resources if none is requested', async () => {
    const client = await provider.client({ allowedScopes });
    expect((await openConsent(provider, client)).text).not.toContain('For use at');
  });

  it('of a host gets the resources with their names', async () => {
    const seen: unknown[] = [];
    const consentPage = (details: { readonly resources?: unknown }) => {
      seen.push(details.resources);
      return '<p>own</p>';
    };
    const at = await startProvider({ ...options, pages: { consent: consentPage } });
    const client = await at.client({ allowedScopes });
    for (const resource of [tools, undefined]) {
      const browser = at.browser();
      const { location } = await browser.get(at.authorizeUrl(client, { resource }));
      await browser.get(location ?? '');
    }
    expect(seen).toEqual([[{ uri: tools, name: 'Tools & more' }], undefined]);
  });

  it('is requested again after the user has removed the app', async () => {
    const client = await provider.client({ allowedScopes });
    const browser = provider.browser();
    await (await openConsent(provider, client, { resource: tools }, browser)).finish();
    const [connected] = (await provider.ostiary.consents.list('user-ana')).filter(
      ({ clientId }) => clientId === client.id,
    );
    if (connected !== undefined) expect(connected.scopes).toEqual(['openid']);
    await provider.removeApp(client, browser);
    expect((await browser.get(urlFor([tools], 'openid', client))).outcome).toBe('303 interaction');
  });
});

describe('a code exchange', () => {
  it('may ask for a part of what was authorized, and gets the scopes of that part', async () => {
    const asked = 'openid wallet:pay tools:run';
    const { access_token: token, scope } = await tokensFor([wallet, tools], asked, { resource: tools });
    expect(scope).toBe('openid tools:run');
    expect(await introspected(token)).toMatchObject({ aud: tools, scope });
    expect(await reasonOf(token, { resource: wallet })).toBe('wrong_audience');
  });

  it('takes several resources: in a form the parameter several times, in JSON a list', async () => {
    const scope = 'openid wallet:pay tools:run';
    const both = { resource: [wallet, tools] };
    expect(await introspected((await tokensFor([wallet, tools], scope, both)).access_token)).toMatchObject({
      aud: [wallet, tools],
    });
    const code = await codeFor([wallet, tools], scope);
    const form = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: app.redirectUri },
      ...{ client_id: app.id, client_secret: app.secret ?? '' },
    });
    form.append('resource', wallet);
    form.append('resource', tools);
    const answer = await provider.call('/v1/oauth/token', form);
    expect(await introspected(answer.json().access_token)).toMatchObject({ aud: [wallet, tools] });
  });

  it('is refused for a resource that was not authorized, and the code stays usable', async () => {
    const code = await codeFor([tools], 'openid tools:run');
    for (const resource of [wallet, 'https://other.example', 'x', `${tools} ${wallet}`, [tools, wallet]])
      expect(await provider.redeem(app, code, { resource })).toBe('400 invalid_target');
    for (const resource of [7, [7], { a: 1 }, null])
      expect(await provider.redeem(app, code, { resource })).toBe('400 invalid_request');
    expect(await provider.redeem(app, code, { resource: tools })).toBe('200 ok');
    const plain = await provider.code(app);
    expect(await provider.redeem(app, plain, { resource: tools })).toBe('400 invalid_target');
  });

  it('is refused for a resource whose scopes were not approved, if no other scope was', async () => {
    const code = await codeFor([wallet, tools], 'wallet:pay');
    expect(await provider.redeem(app, code, { resource: tools })).toBe('400 invalid_target');
    expect(await provider.redeem(app, code, { resource: '' })).toBe('200 ok');
  });
});

describe('a refresh', () => {
  const scope = 'openid wallet:pay tools:run tools:edit offline_access';

  it('asks for a part of the grant, and later for another part or all of it', async () => {
    const first = await tokensFor([wallet, tools], scope, { resource: wallet });
    expect(first.scope).toBe('openid wallet:pay offline_access');
    const second = (await refresh(first.refresh_token, { resource: tools })).json();
    expect(second.scope).toBe('openid tools:run tools:edit offline_access');
    expect(await introspected(second.access_token)).toMatchObject({ aud: tools });
    const third = (await refresh(second.refresh_token, { resource: tools, scope: 'tools:run' })).json();
    expect(await introspected(third.access_token)).toMatchObject({ aud: tools, scope: 'tools:run' });
    const whole = (await refresh(third.refresh_token)).json();
    expect(await introspected(whole.access_token)).toMatchObject({ aud: [wallet, tools], scope });
    // An earlier token stays what it is.
    expect(await introspected(first.access_token)).toMatchObject({ aud: wallet });
  });

  it('is refused beyond the grant, and revokes nothing', async () => {
    const { refresh_token: token } = await tokensFor([tools], 'tools:run offline_access');
    expect((await refresh(token, { resource: wallet })).outcome).toBe('400 invalid_target');
    expect((await refresh(token, { resource: 'https://other.example' })).outcome).toBe('400 invalid_target');
    expect((await refresh(token, { resource: tools, scope: 'wallet:pay' })).outcome).toBe(
      '400 invalid_scope',
    );
    expect((await refresh(token, { resource: tools })).outcome).toBe('200 ok');
  });

  it('is refused for a scope that belongs to another resource than the requested one', async () => {
    const { refresh_token: token } = await tokensFor([wallet, tools], scope);
    expect((await refresh(token, { resource: wallet, scope: 'tools:run' })).outcome).toBe(
      '400 invalid_scope',
    );
  });

  it('of many tabs gives each the part that it asks for', async () => {
    const { refresh_token: token } = await tokensFor([wallet, tools], scope);
    const asked = Array.from({ length: 8 }, (_, tab) => (tab % 2 === 0 ? wallet : tools));
    const answers = await Promise.all(asked.map((resource) => refresh(token, { resource })));
    const audiences = await Promise.all(
      answers.map(async (answer) => (await introspected(answer.json().access_token)).aud),
    );
    expect(audiences).toEqual(asked);
  });
});

describe('without the option', () => {
  it('the parameter is ignored at both endpoints, with any value and any number of times', async () => {
    const at = await startProvider();
    const client = await at.client();
    const url = `${at.authorizeUrl(client)}&resource=x&resource=%ff&resource=`;
    const { location } = await at.follow(at.browser(), url);
    const code = new URL(location ?? '').searchParams.get('code') ?? '';
    const answer = await at.exchange(client, code, { resource: [7, { a: 1 }] });
    expect(answer.outcome).toBe('200 ok');
    const token = String(answer.json().access_token);
    expect(await at.ostiary.tokens.verify(token)).toMatchObject({ active: true });
    const form = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code: await at.code(client), redirect_uri: client.redirectUri },
      ...{ client_id: client.id, client_secret: client.secret ?? '' },
    });
    form.append('resource', 'a');
    form.append('resource', 'b');
    expect((await at.call('/v1/oauth/token', form)).outcome).toBe('200 ok');
    const metadata = (await at.request('/.well-known/openid-configuration')).json();
    expect(metadata).not.toHaveProperty('protected_resources');
  });

  it('tokens that were issued with it stay bound to their resources', async () => {
    const { memoryStorage } = await import('@ostiary/testing/memory');
    const shared = { storage: memoryStorage(), clock: provider.clock, sealingKeys: [new Uint8Array(32)] };
    const before = await startProvider({ ...options, ...shared });
    const client = await before.client({ allowedScopes });
    const issued = await before.tokens(client, { scope: 'openid offline_access', resource: tools });
    await before.ostiary.ready();
    const after = await startProvider({ ...shared, refreshTokens: {} }, before.host);
    const answer = await after.call('/v1/oauth/token', {
      ...{ grant_type: 'refresh_token', refresh_token: issued.refresh_token },
      ...{ client_id: client.id, client_secret: client.secret },
    });
    for (const token of [issued.access_token, answer.json().access_token]) {
      const check = await after.ostiary.tokens.verify(String(token));
      expect(check).toEqual({ active: false, reason: 'wrong_audience' });
    }
  });
});

it('the metadata lists the resources', async () => {
  const metadata = (await provider.request('/.well-known/openid-configuration')).json();
  expect(metadata.protected_resources).toEqual([wallet, tools]);
  expect(metadata.scopes_supported).toEqual(expect.arrayContaining(['wallet:pay', 'tools:run']));
});

describe('the option', () => {
  const started = (given: HostResources) => startProvider({ scopes, resources: given });
  const entry = { name: 'An API', scopes: [] };

  it.each([
    [{ 'api.example': entry }, 'resources.api.example: must be an absolute URI without a fragment'],
    [{ 'https://a.example/#x': entry }, 'resources.https://a.example/#x: must be an absolute URI'],
    [{ 'https://u:p@a.example/': entry }, 'must be an absolute URI'],
    [{ 'https://a.example/a b': entry }, 'must be an absolute URI'],
    [{ [`https://a.example/${'x'.repeat(2048)}`]: entry }, 'must be an absolute URI'],
    [
      { 'https://a.example': entry, 'https://A.example/': entry },
      'resources.https://A.example/: is the same resource as https://a.example',
    ],
    [
      { 'https://a.example': { ...entry, scopes: ['nope'] } },
      'resources.https://a.example.scopes: there is no scope nope',
    ],
    [{ 'https://a.example': { ...entry, scopes: ['openid'] } }, 'scopes: openid belongs to no resource'],
    [{ 'https://a.example': { ...entry, name: '' } }, 'resources.https://a.example.name'],
    [{ 'https://a.example': { ...entry, other: 1 } }, 'unknown option other'],
    [
      Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`https://a.example/${at}`, entry])),
      'resources: takes 100 at most',
    ],
  ])('%# is refused at the start', async (given, message) => {
    await expect(started(given)).rejects.toThrow(message);
  });

  it('takes other URIs than those of the web', async () => {
    const at = await started({ 'urn:example:billing': entry });
    const client = await at.client();
    const token = String((await at.tokens(client, { resource: 'urn:example:billing' })).access_token);
    expect(await at.ostiary.tokens.verify(token, { resource: 'urn:example:billing' })).toMatchObject({
      active: true,
    });
  });
});
