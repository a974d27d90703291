import { describe, expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { serve, startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
await provider.code(client, { scope: 'openid profile' });

/** What the client gets at once, without any page: `code` or an error. */
async function answered(parameters: Record<string, string>, browser = provider.browser()): Promise<string> {
  const { location, callback, outcome } = await browser.get(provider.authorizeUrl(client, parameters));
  expect(location?.startsWith(client.redirectUri), location ?? outcome).toBe(true);
  expect(callback.get('state')).toBe('a state');
  return outcome.replace('303 ', '');
}

/** The page of the host's login that the browser is sent to. */
async function loginPage(parameters: Record<string, string>, browser = provider.browser()) {
  const { outcome, callback } = await provider.follow(browser, provider.authorizeUrl(client, parameters));
  expect(outcome).toBe('303 login');
  return callback;
}

/** A browser whose user signed in at the host so long ago. */
function signedIn(agoMs: number) {
  const browser = provider.browser();
  provider.host.signIn(browser.name, ana.sub, new Date(provider.clock.now() - agoMs));
  return browser;
}

const refused = {
  response_mode: {
    error: 'invalid_request',
    values: ['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt', 'QUERY', 'x'],
  },
  response_type: {
    error: 'unsupported_response_type',
    values: ['token', 'id_token', 'code id_token', 'code token', 'none', 'CODE'],
  },
  prompt: {
    error: 'invalid_request',
    values: ['none login', 'none consent', 'select_account', 'create', 'NONE', 'login nonsense'],
  },
  max_age: { error: 'invalid_request', values: ['-1', '1.5', 'soon', '1e30'] },
};

describe('a parameter with a value that there is not', () => {
  it.each(Object.entries(refused))('%s is refused, in the query: %j', async (name, { error, values }) => {
    for (const value of values) expect([value, await answered({ [name]: value })]).toEqual([value, error]);
  });

  it('is another thing than an empty response_type, which is invalid_request', async () => {
    expect(await answered({ response_type: '' })).toBe('invalid_request');
  });

  it('leaves response_mode=query, which is the only one there is', async () => {
    expect(await answered({ response_mode: 'query' })).toBe('code');
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
    expect(await answered(parameters)).toBe('code');
    const { access_token: _, id_token: __, ...rest } = await provider.tokens(client, parameters);
    expect(rest).toEqual({ token_type: 'Bearer', expires_in: 3600, scope: 'openid' });
  });

  it('may even come twice, while the others may not', async () => {
    const browser = provider.browser();
    const url = provider.authorizeUrl(client);
    expect((await browser.get(`${url}&claims=a&claims=b`)).outcome).toBe('303 code');
    const once = [
      'response_type',
      'scope',
      'state',
      'nonce',
      'prompt',
      'code_challenge',
      'login_hint',
      'request',
    ];
    for (const name of once) {
      const { outcome, callback } = await browser.get(`${url}&${name}=openid&${name}=openid`);
      expect([name, outcome]).toEqual([name, '303 invalid_request']);
      expect(callback.get('state')).toBe(name === 'state' ? null : 'a state');
    }
  });
});

describe('parameters that are refused', () => {
  it.each(['request', 'request_uri', 'registration'])(
    '%s is not supported, and nobody is connected to',
    async (name) => {
      let requests = 0;
      const url = await serve((_request, response) => {
        requests += 1;
        response.end('{}');
      });
      const none = `${btoa('{"alg":"none"}')}.${btoa(`{"client_id":"${client.id}"}`)}.`;
      const values: Record<string, string[]> = {
        request: ['x', none],
        request_uri: [url, `${url}/object#sha`, 'urn:ietf:params:oauth:request_uri:abc'],
        registration: [JSON.stringify({ logo_uri: url, jwks_uri: url }), '{'],
      };
      for (const value of values[name] ?? [])
        expect(await answered({ [name]: value })).toBe(`${name}_not_supported`);
      expect(requests).toBe(0);
    },
  );
});

describe('max_age', () => {
  it('is met to the second', async () => {
    const browser = signedIn(60_000);
    expect(await answered({ max_age: '60' }, browser)).toBe('code');
    expect((await loginPage({ max_age: '59' }, browser)).get('reauthenticate')).toBe('true');
    expect(await answered({ max_age: '59', prompt: 'none' }, browser)).toBe('login_required');
  });

  it('of 0 asks every time', async () => {
    const browser = signedIn(0);
    expect((await loginPage({ max_age: '0' }, browser)).get('reauthenticate')).toBe('true');
    expect(await answered({ max_age: '0', prompt: 'none' }, browser)).toBe('login_required');
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
    const callback = await provider.authorize(client, { [name]: 'x'.repeat(limit + 1) });
    expect(callback.get('error')).toBe('invalid_request');
    expect(callback.get('error_description')).toBe(`The parameter ${name} may have ${limit} bytes at most.`);
  });
});
