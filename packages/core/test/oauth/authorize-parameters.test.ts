import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;
let client: TestClient;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
  client = await provider.client();
  await provider.code(client, { scope: 'openid profile' });
});
afterAll(() => provider.stop());

/** What the client gets at once, without any page. */
async function answered(
  parameters: Record<string, string>,
  browser = provider.browser(),
): Promise<URLSearchParams> {
  const answer = await browser.get(provider.authorizeUrl(client, parameters));
  expect(answer.location?.startsWith(client.redirectUri), answer.location ?? answer.text).toBe(true);
  return new URL(answer.location ?? '').searchParams;
}

/** The page of the host's login that the browser is sent to. */
async function loginPage(
  parameters: Record<string, string>,
  browser = provider.browser(),
): Promise<URLSearchParams> {
  const { location } = await provider.follow(browser, provider.authorizeUrl(client, parameters));
  expect(location).toContain('/login?');
  return new URL(location ?? '').searchParams;
}

describe('response_mode', () => {
  it('may be query, which is the only one there is', async () => {
    expect((await answered({ response_mode: 'query' })).has('code')).toBe(true);
  });

  it.each(['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt', 'QUERY', 'x'])(
    '%s is refused, in the query',
    async (response_mode) => {
      const callback = await answered({ response_mode });
      expect([callback.get('error'), callback.get('state')]).toEqual(['invalid_request', 'a state']);
    },
  );
});

describe('response_type', () => {
  it.each(['token', 'id_token', 'code id_token', 'code token', 'none', 'CODE'])(
    '%s is unsupported_response_type',
    async (response_type) => {
      expect((await answered({ response_type })).get('error')).toBe('unsupported_response_type');
    },
  );

  it('missing or empty is invalid_request', async () => {
    expect((await answered({ response_type: '' })).get('error')).toBe('invalid_request');
  });
});

describe('parameters that are ignored', () => {
  it.each([
    { display: 'popup' },
    { display: 'no such display' },
    { acr_values: 'urn:mace:incommon:iap:silver' },
    { claims: '{"id_token":{"auth_time":{"essential":true},"name":null}}' },
    { claims: 'not json' },
    { claims_locales: 'fr-CA fr' },
    { resource: 'https://api.example' },
    { audience: 'x' },
    { dpop_jkt: 'x' },
    { authorization_details: '[]' },
    { web_message_uri: 'https://evil.example' },
    { nonsense: 'a'.repeat(1000) },
  ])('%j changes nothing', async (parameters) => {
    const code = (await answered(parameters)).get('code') ?? '';
    const answer = (await provider.exchange(client, code)).json();
    expect(Object.keys(answer).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'scope',
      'token_type',
    ]);
    expect(answer.scope).toBe('openid');
  });

  it('may even come twice, while the others may not', async () => {
    const browser = provider.browser();
    const url = provider.authorizeUrl(client);
    const ignored = await browser.get(`${url}&claims=a&claims=b`);
    expect(new URL(ignored.location ?? '').searchParams.has('code')).toBe(true);
    for (const name of [
      'response_type',
      'scope',
      'state',
      'nonce',
      'prompt',
      'code_challenge',
      'login_hint',
      'request',
    ]) {
      const refused = await browser.get(`${url}&${name}=openid&${name}=openid`);
      const parameters = new URL(refused.location ?? '').searchParams;
      expect([name, parameters.get('error')]).toEqual([name, 'invalid_request']);
      expect(parameters.get('state')).toBe(name === 'state' ? null : 'a state');
    }
  });
});

describe('parameters that are refused', () => {
  it.each([
    ['request', 'request_not_supported'],
    ['request_uri', 'request_uri_not_supported'],
    ['registration', 'registration_not_supported'],
  ])('%s gets %s, and nobody is connected to', async (name, error) => {
    let connections = 0;
    const trap = createServer((_request, response) => response.end('{}')).on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/object`;
    const none = `${btoa('{"alg":"none"}')}.${btoa(`{"client_id":"${client.id}"}`)}.`;
    const values: Record<string, string[]> = {
      request: ['x', none],
      request_uri: [url, `${url}#sha`, 'urn:ietf:params:oauth:request_uri:abc'],
      registration: [JSON.stringify({ logo_uri: url, jwks_uri: url }), '{'],
    };
    for (const value of values[name] ?? []) {
      const callback = await answered({ [name]: value });
      expect([callback.get('error'), callback.get('state'), callback.has('code')]).toEqual([
        error,
        'a state',
        false,
      ]);
    }
    expect(connections).toBe(0);
    trap.close();
  });
});

describe('prompt', () => {
  it('none answers at once when consent is remembered', async () => {
    expect((await answered({ prompt: 'none' })).has('code')).toBe(true);
  });

  it('none is login_required when nobody is signed in, and consent_required for more than was given', async () => {
    expect((await answered({ prompt: 'none' }, provider.browser(null))).get('error')).toBe('login_required');
    expect((await answered({ prompt: 'none', scope: 'openid kyc' })).get('error')).toBe('consent_required');
    expect((await answered({ prompt: 'none' }, provider.browser(ben.sub))).get('error')).toBe(
      'consent_required',
    );
  });

  it.each(['none login', 'none consent', 'select_account', 'create', 'NONE', 'login nonsense'])(
    '%s is invalid_request',
    async (prompt) => {
      expect((await answered({ prompt })).get('error')).toBe('invalid_request');
    },
  );

  it('login asks for credentials again, also of somebody who has just signed in', async () => {
    const browser = provider.browser();
    provider.host.signIn(browser.name, ana.sub, new Date(provider.clock.now()));
    expect((await loginPage({ prompt: 'login' }, browser)).get('reauthenticate')).toBe('true');
  });

  it('consent asks again although it is remembered', async () => {
    const { text, status } = await provider.follow(
      provider.browser(),
      provider.authorizeUrl(client, { prompt: 'consent' }),
      'deny',
    );
    expect([status, text]).toEqual([303, '']);
    const browser = provider.browser();
    const first = await browser.get(provider.authorizeUrl(client, { prompt: 'consent' }));
    const page = await browser.get(first.location ?? '');
    expect([page.status, page.text.includes('name="decision"')]).toEqual([200, true]);
  });
});

describe('max_age', () => {
  it('is met to the second', async () => {
    const browser = provider.browser();
    provider.host.signIn(browser.name, ana.sub, new Date(provider.clock.now() - 60_000));
    expect((await answered({ max_age: '60' }, browser)).has('code')).toBe(true);
    expect((await loginPage({ max_age: '59' }, browser)).get('reauthenticate')).toBe('true');
    expect((await answered({ max_age: '59', prompt: 'none' }, browser)).get('error')).toBe('login_required');
  });

  it('of 0 asks every time', async () => {
    const browser = provider.browser();
    provider.host.signIn(browser.name, ana.sub, new Date(provider.clock.now()));
    expect((await loginPage({ max_age: '0' }, browser)).get('reauthenticate')).toBe('true');
    expect((await answered({ max_age: '0', prompt: 'none' }, browser)).get('error')).toBe('login_required');
  });

  it.each(['-1', '1.5', 'soon', '1e30'])('%s is invalid_request', async (max_age) => {
    expect((await answered({ max_age })).get('error')).toBe('invalid_request');
  });
});

describe('login_hint and ui_locales', () => {
  it('reach the host, who is told that nobody has to be asked for credentials twice', async () => {
    const parameters = { login_hint: 'ana@example.com & more', ui_locales: 'fr-HT  ht en' };
    const page = await loginPage(parameters, provider.browser(null));
    expect(page.get('login_hint')).toBe('ana@example.com & more');
    expect(page.get('ui_locales')).toBe('fr-HT ht en');
    expect(page.get('reauthenticate')).toBe('false');
  });

  it('are not made up where they were not sent', async () => {
    const page = await loginPage({}, provider.browser(null));
    expect([...page.keys()].toSorted()).toEqual(['reauthenticate', 'return_to']);
  });

  it.each([
    [{ ui_locales: 'fr-CA en' }, 'en', 'fr'],
    [{ ui_locales: 'de' }, 'fr;q=0.9, en;q=0.1', 'fr'],
    [{}, 'fr-FR', 'fr'],
    [{}, 'de', 'en'],
  ])('%j and Accept-Language %s make the page speak %s', async (parameters, language, expected) => {
    const browser = provider.browser();
    const first = await browser.get(provider.authorizeUrl(client, { ...parameters, prompt: 'consent' }));
    const page = await browser.get(first.location ?? '', { 'accept-language': language });
    expect(page.text).toContain(`<html lang="${expected}">`);
  });
});

describe('parameters that are kept while the user is asked', () => {
  it.each([
    ['login_hint', 512],
    ['ui_locales', 512],
    ['id_token_hint', 4096],
  ])('%s of more than %i bytes is refused', async (name, limit) => {
    const callback = await answered({ [name]: 'x'.repeat(limit + 1) });
    expect(callback.get('error')).toBe('invalid_request');
    expect(callback.get('error_description')).toBe(`The parameter ${name} may have ${limit} bytes at most.`);
  });
});
