import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { json, scriptedProvider, startShop, token } from './provider.ts';

const identity = {
  sub: 'usr_1',
  kid: 'K1',
  role: 'member',
  country: 'HT',
  createdAt: '2026-01-02T00:00:00.000Z',
  name: '<b>Ana</b>',
};

const kind = {
  '/v1/oauth/token': json(200, token),
  '/v1/oauth/userinfo': json(200, identity),
  '/v1/oauth/revoke': json(200, { ok: true }),
};

async function shopWith(script: Parameters<typeof scriptedProvider>[0] = kind) {
  const provider = await scriptedProvider(script);
  const config = await startShop(provider.origin);
  const customer = new Customer(config);
  const iss = provider.origin;
  return { ...provider, config, customer, iss };
}

describe('the authorization request', () => {
  test('has state, PKCE and the chosen scopes, and nothing that is secret', async () => {
    const { customer, config, iss } = await shopWith();
    const url = await customer.begin('confidential', ['kyc', 'openid', 'made-up']);
    expect(url.origin + url.pathname).toBe(`${iss}/oauth/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'shop',
      redirect_uri: config.clients.confidential.redirectUri,
      scope: 'openid kyc',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect((await customer.begin()).searchParams.get('state')).not.toBe(url.searchParams.get('state'));
  });

  test('needs a scope', async () => {
    const { customer } = await shopWith();
    const answer = await customer.request('/sign-in', { method: 'POST', body: new URLSearchParams() });
    expect(answer.status).toBe(303);
    expect((await customer.request('/')).html).toContain('Choose at least one scope.');
  });

  test('is not begun for another site', async () => {
    const { customer } = await shopWith();
    const answer = await customer.request('/sign-in', {
      method: 'POST',
      headers: { Origin: 'https://evil.example' },
    });
    expect(answer.status).toBe(403);
  });
});

describe('the callback', () => {
  test.each([
    ['confidential', '/callback', 'shop', 'a-secret'],
    ['public', '/callback/public', 'shop-public', undefined],
  ])('of the %s client exchanges the code and shows the identity', async (client, path, clientId, secret) => {
    const { customer, received, iss, config } = await shopWith();
    const url = await customer.begin(client);
    const before = customer.cookie;
    const answer = await customer.callback(
      { code: 'the-code', state: url.searchParams.get('state') ?? '', iss },
      path,
    );
    expect(answer).toMatchObject({ status: 303, location: '/' });
    expect(customer.cookie).not.toBe(before);
    expect(answer.set).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    const [exchange, userinfo] = received;
    expect(exchange?.body).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: `${config.url}${path}`,
      client_id: clientId,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      ...(secret !== undefined && { client_secret: secret }),
    });
    const challenge = createHash('sha256').update(String(exchange?.body.code_verifier)).digest('base64url');
    expect(challenge).toBe(url.searchParams.get('code_challenge'));
    expect(userinfo?.authorization).toBe('Bearer svc_at_1');
    const { html } = await customer.request('/');
    expect(html).toContain('Bonjou, &lt;b&gt;Ana&lt;/b&gt;!');
    expect(html).toContain('usr_1');
    expect(html).not.toContain('svc_at_1');
  });

  test('refuses a state of nobody, of somebody else, and one that was used', async () => {
    const { customer, config, received, iss } = await shopWith();
    const state = (await customer.begin()).searchParams.get('state') ?? '';
    const stranger = new Customer(config);
    await stranger.begin();
    for (const answer of [
      await customer.callback({ code: 'c', iss }),
      await customer.callback({ code: 'c', iss, state: 'x'.repeat(43) }),
      await customer.callback({ code: 'c', iss, state: `${state}x` }),
      await stranger.callback({ code: 'c', iss, state }),
      await new Customer(config).callback({ code: 'c', iss, state }),
      // The other client's address.
      await customer.callback({ code: 'c', iss, state }, '/callback/public'),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.html).toContain('wrong_state');
    }
    expect(received).toEqual([]);
    expect((await customer.callback({ code: 'c', iss, state })).status).toBe(303);
    expect((await customer.callback({ code: 'c', iss, state })).html).toContain('wrong_state');
  });

  test.each([
    ['of another provider', 'https://evil.example'],
    ['that is missing', ''],
  ])('refuses an iss %s before it looks at anything else', async (_, iss) => {
    const { customer, received } = await shopWith();
    const state = (await customer.begin()).searchParams.get('state') ?? '';
    const answer = await customer.callback({
      error: 'access_denied',
      code: 'c',
      state,
      ...(iss !== '' && { iss }),
    });
    expect(answer.status).toBe(400);
    expect(answer.html).toContain('issuer_mismatch');
    expect(received).toEqual([]);
  });
});

describe('the answer of a provider', () => {
  test('takes two tabs that sign in at the same time', async () => {
    const { customer, iss } = await shopWith();
    const [first, second] = [await customer.begin(), await customer.begin('public')];
    expect(
      (
        await customer.callback(
          { code: 'a', iss, state: second.searchParams.get('state') ?? '' },
          '/callback/public',
        )
      ).status,
    ).toBe(303);
    expect(first.searchParams.get('state')).not.toBe(second.searchParams.get('state'));
  });

  test('shows that the user denied, and nothing that somebody wrote into the address', async () => {
    const { customer, iss } = await shopWith();
    const state = (await customer.begin()).searchParams.get('state') ?? '';
    const description = '<img src=x onerror=alert(1)>';
    const answer = await customer.callback({
      error: 'access_denied',
      error_description: description,
      state,
      iss,
    });
    expect(answer.html).toContain('No coffee without a name');
    expect(answer.html).toContain('access_denied');
    expect(answer.html).not.toContain('onerror');
  });

  test.each([
    ['an error', json(400, { error: 'invalid_grant', error_description: 'used' }), 'invalid_grant'],
    ['no token', json(200, {}), 'unexpected_answer'],
    ['a token of another type', json(200, { ...token, token_type: 'mac' }), 'unexpected_answer'],
    ['an error that says nothing', json(500, null), 'unexpected_answer'],
    ['something that is no JSON', () => ({ status: 200, body: '<html>' }), 'unexpected_answer'],
    ['a redirect', () => ({ status: 302, body: '{}' }), 'redirect'],
  ])('survives an exchange that gives %s', async (_, answer, code) => {
    const { customer, iss } = await shopWith({ ...kind, '/v1/oauth/token': answer });
    const state = (await customer.begin()).searchParams.get('state') ?? '';
    const page = await customer.callback({ code: 'c', state, iss });
    expect(page.status).toBe(400);
    expect(page.html).toContain(`<code>${code}</code>`);
    expect((await customer.request('/')).html).toContain('Sign in to order');
  });
});

describe('afterwards', () => {
  async function signedIn(script = kind) {
    const all = await shopWith(script);
    await all.customer.signIn(all.iss);
    return all;
  }

  test('the token can be revoked, and read again to see that it is dead', async () => {
    let dead = false;
    const { customer, received } = await signedIn({
      ...kind,
      '/v1/oauth/userinfo': () =>
        (dead ? json(401, { error: 'invalid_token', error_description: 'dead' }) : json(200, identity))(),
      '/v1/oauth/revoke': () => {
        dead = true;
        return json(200, { ok: true })();
      },
    });
    await customer.request('/refresh', { method: 'POST' });
    expect((await customer.request('/')).html).toContain('the token is alive');
    await customer.request('/revoke', { method: 'POST' });
    expect(received.at(-1)).toMatchObject({
      path: '/v1/oauth/revoke',
      body: { token: 'svc_at_1' },
      authorization: undefined,
    });
    await customer.request('/refresh', { method: 'POST' });
    expect((await customer.request('/')).html).toContain('invalid_token');
  });

  test('signing out forgets everything', async () => {
    const { customer } = await signedIn();
    const old = customer.cookie;
    await customer.request('/sign-out', { method: 'POST' });
    customer.cookie = old;
    expect((await customer.request('/')).html).toContain('Sign in to order');
  });

  test('what was not granted is not shown', async () => {
    const { customer } = await signedIn();
    expect((await customer.request('/')).html.match(/The shop did not ask/g)).toHaveLength(3);
  });
});

test('the browser-only page may run its own script and talk to the provider, and nothing else', async () => {
  const { config, iss } = await shopWith();
  const page = await fetch(`${config.url}/spa`);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain(`script-src 'self'; connect-src ${iss}`);
  expect(policy).not.toContain('unsafe');
  const html = await page.text();
  expect(html).toContain('data-client-id="shop-public"');
  expect(html).not.toContain('a-secret');
  const script = await fetch(`${config.url}/spa.js`);
  expect(script.headers.get('content-type')).toContain('text/javascript');
});
