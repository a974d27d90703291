import { describe, expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { serve, startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
await provider.code(client, { scope: 'openid profile' });

/** Returns the result of an authorization request that shows no page: `code` or an error. */
async function answered(parameters: Record<string, string>, browser = provider.browser()): Promise<string> {
  const { location, callback, outcome } = await browser.get(provider.authorizeUrl(client, parameters));
  expect(location?.startsWith(client.redirectUri), location ?? outcome).toBe(true);
  expect(callback.get('state')).toBe('a state');
  return outcome.replace('303 ', '');
}

/**
 * Returns the parameters with which the host application's login page is opened after an authorization
 * request.
 */
async function loginPage(parameters: Record<string, string>, browser = provider.browser(null)) {
  const { outcome, callback } = await provider.follow(browser, provider.authorizeUrl(client, parameters));
  expect(outcome).toBe('303 login');
  return Object.fromEntries(callback);
}

describe('a parameter with a value that there is not', () => {
  it.each([
    [
      'response_mode',
      'invalid_request',
      ['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt', 'QUERY'],
    ],
    ['response_type', 'invalid_request', ['']],
    ['response_type', 'unsupported_response_type', ['token', 'id_token', 'code id_token', 'none', 'CODE']],
    ['prompt', 'invalid_request', ['none login', 'none consent', 'select_account', 'NONE', 'login nonsense']],
    [
      'max_age',
      'invalid_request',
      ['-1', '1.5', 'soon', '1e30', '1e3', '0x10', '+5', ' 5', '5 ', '9'.repeat(16)],
    ],
  ])('%s is %s, in the query: %j', async (name, error, values) => {
    for (const value of values) expect([value, await answered({ [name]: value })]).toEqual([value, error]);
  });

  it.each([
    ['select_account', 'select_account'],
    ['consent create', 'create'],
    ['LOGIN', 'LOGIN'],
    ['login,consent', 'login,consent'],
    ['"é', '(malformed)'],
  ])('prompt=%s is told with what there is (OpenID Connect Core, section 3.1.2.1)', async (prompt, named) => {
    const callback = await provider.authorize(client, { prompt });
    expect(callback.get('error_description')).toBe(
      `The parameter prompt has a value that is not supported: ${named}. Supported: none, login, consent.`,
    );
  });

  it('scopes that are not separated by spaces get an error that says so', async () => {
    for (const scope of [
      'openid,profile',
      'openid+profile',
      'openid, profile',
      'openid%20profile',
      'openid;kyc',
    ]) {
      const callback = await provider.authorize(client, { scope });
      expect(callback.get('error')).toBe('invalid_scope');
      expect(callback.get('error_description')).toMatch(/ Scopes are separated by spaces\.$/);
    }
    const callback = await provider.authorize(client, { scope: 'mail,phone' });
    expect(callback.get('error_description')).not.toContain('separated');
  });

  it('prompt is a list whose values have any number of spaces between them, each once or more', async () => {
    for (const prompt of ['none none', ' none', 'none  none '])
      expect(await answered({ prompt })).toBe('code');
    for (const prompt of ['login  consent', ' consent login', 'login consent login'])
      expect(await loginPage({ prompt }, provider.browser())).toMatchObject({ reauthenticate: 'true' });
  });

  it('leaves response_mode=query, which is the only one there is', async () => {
    expect(await answered({ response_mode: 'query' })).toBe('code');
  });
});

it('parameters that are ignored change nothing and may even come twice, while the others may not', async () => {
  const browser = provider.browser();
  const url = provider.authorizeUrl(client);
  // Unknown parameters. The conformance suite covers the optional ones of OpenID Connect.
  const ignored = ['claims=not json', 'resource=https://api.example', 'audience=x', 'dpop_jkt=x', 'x=y'];
  for (const parameter of [...ignored, 'authorization_details=[]', 'web_message_uri=https://evil.example'])
    expect((await browser.get(`${url}&${parameter}&${parameter}`)).outcome).toBe('303 code');
  const once = ['response_type', 'scope', 'state', 'nonce', 'prompt', 'code_challenge', 'login_hint'];
  for (const name of [...once, 'request']) {
    const { outcome, callback } = await browser.get(`${url}&${name}=openid&${name}=openid`);
    expect([name, outcome]).toEqual([name, '303 invalid_request']);
    expect(callback.get('state')).toBe(name === 'state' ? null : 'a state');
  }
});

it('request, request_uri and registration are not supported, and cause no connection', async () => {
  let requests = 0;
  const url = await serve((_request, response) => {
    requests += 1;
    response.end('{}');
  });
  const none = `${btoa('{"alg":"none"}')}.${btoa(`{"client_id":"${client.id}"}`)}.`;
  for (const [name, values] of Object.entries({
    request: ['x', none],
    request_uri: [url, `${url}/object#sha`, 'urn:ietf:params:oauth:request_uri:abc'],
    registration: [JSON.stringify({ logo_uri: url, jwks_uri: url }), '{'],
  })) {
    for (const value of values) expect(await answered({ [name]: value })).toBe(`${name}_not_supported`);
  }
  expect(requests).toBe(0);
});

it('max_age is met to the second; 0 asks every time', async () => {
  for (const [agoMs, max_age, isFresh] of [
    [60_000, '60', true],
    [60_000, '59', false],
    [0, '0', false],
  ] as const) {
    const browser = provider.browser(null);
    provider.signIn(browser, ana.sub, agoMs);
    expect(await answered({ max_age, prompt: 'none' }, browser)).toBe(isFresh ? 'code' : 'login_required');
    if (isFresh) expect(await answered({ max_age }, browser)).toBe('code');
    else expect(await loginPage({ max_age }, browser)).toMatchObject({ reauthenticate: 'true' });
  }
});

describe('parameters that are kept while the user is asked', () => {
  it('reach the host, which learns that it need not ask for credentials twice', async () => {
    const parameters = { login_hint: 'ana@example.com & more', ui_locales: 'fr-HT  ht en' };
    const told = { login_hint: 'ana@example.com & more', ui_locales: 'fr-HT ht en', reauthenticate: 'false' };
    expect(await loginPage(parameters)).toMatchObject(told);
    // Parameters that were not sent are not added.
    expect(Object.keys(await loginPage({})).toSorted()).toEqual(['reauthenticate', 'return_to']);
  });

  it.each([
    [{ ui_locales: 'fr-CA en' }, 'en', 'fr'],
    [{ ui_locales: 'fr_CA' }, 'en', 'fr'],
    [{}, 'fr-FR', 'fr'],
    [{}, 'de', 'en'],
  ])('%j and Accept-Language %s make the page speak %s', async (parameters, language, expected) => {
    const browser = provider.browser();
    const first = await browser.get(provider.authorizeUrl(client, { ...parameters, prompt: 'consent' }));
    const page = await browser.get(first.location ?? '', { 'accept-language': language });
    expect(page.text).toContain(`<html lang="${expected}">`);
  });

  it.each([
    ['login_hint', 512],
    ['ui_locales', 512],
    ['id_token_hint', 8192],
    ['nonce', 4096],
    ['state', 4096],
  ])('%s of more than %i bytes is refused', async (name, limit) => {
    const callback = await provider.authorize(client, { [name]: 'x'.repeat(limit + 1) });
    expect(callback.get('error')).toBe('invalid_request');
    expect(callback.get('error_description')).toBe(`The parameter ${name} may have ${limit} bytes at most.`);
  });
});
