import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Customer, identity, json, openShop } from './support.ts';

describe('the authorization request', () => {
  test('has state, PKCE and the chosen scopes, and no secret', async () => {
    const { customer, config, iss } = await openShop();
    const { url, state } = await customer.begin('confidential', ['kyc', 'openid', 'made-up']);
    expect(url.origin + url.pathname).toBe(`${iss}/oauth/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'shop',
      redirect_uri: `${config.url}/callback`,
      scope: 'openid kyc',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect((await customer.begin()).state).not.toBe(state);
  });

  test('needs a scope, and cannot be started by another site', async () => {
    const { customer } = await openShop();
    expect((await customer.send('/sign-in')).status).toBe(303);
    expect(await customer.page()).toContain('Choose at least one scope.');
    expect((await customer.send('/sign-in', {}, { Origin: 'https://evil.example' })).status).toBe(403);
  });
});

describe('the callback', () => {
  test.each([
    ['confidential', '/callback', { client_id: 'shop', client_secret: 'a-secret' }],
    ['public', '/callback/public', { client_id: 'shop-public' }],
  ])('of the %s client exchanges the code and shows the identity', async (client, path, credentials) => {
    const { customer, received, iss, config } = await openShop();
    const { url, state } = await customer.begin(client);
    // Another tab starts a sign-in in the meantime.
    await customer.begin();
    const before = customer.cookie;
    const answer = await customer.callback({ code: 'the-code', state, iss }, path);
    expect(answer).toMatchObject({ status: 303, location: '/' });
    expect(customer.cookie).not.toBe(before);
    expect(answer.set).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    const [exchange, userinfo] = received;
    expect(exchange?.body).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: `${config.url}${path}`,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      ...credentials,
    });
    const challenge = createHash('sha256').update(String(exchange?.body.code_verifier)).digest('base64url');
    expect(challenge).toBe(url.searchParams.get('code_challenge'));
    expect(userinfo?.headers.authorization).toBe('Bearer svc_at_1');
    const html = await customer.page();
    expect(html).toContain('Bonjou, &lt;b&gt;Ana&lt;/b&gt;!');
    expect(html).toContain('usr_1');
    expect(html).not.toContain('svc_at_1');
    // Data that was not granted is not shown.
    expect(html.match(/The shop did not ask/g)).toHaveLength(3);
  });

  test('of another tab counts too, after the first tab has signed in', async () => {
    const { customer, iss } = await openShop();
    const [first, second] = [await customer.begin(), await customer.begin()];
    for (const { state } of [first, second])
      expect(await customer.callback({ code: 'c', state, iss })).toMatchObject({
        status: 303,
        location: '/',
      });
    expect((await customer.callback({ code: 'c', state: second.state, iss })).status).toBe(400);
  });

  test('refuses a state that is unknown, of another browser, or already used', async () => {
    const { customer, config, received, iss } = await openShop();
    const { state } = await customer.begin();
    const stranger = new Customer(config);
    await stranger.begin();
    for (const answer of [
      await customer.callback({ code: 'c', iss }),
      await customer.callback({ code: 'c', iss, state: 'x'.repeat(43) }),
      await customer.callback({ code: 'c', iss, state: `${state}x` }),
      await stranger.callback({ code: 'c', iss, state }),
      await new Customer(config).callback({ code: 'c', iss, state }),
      // The redirect URI of the other client.
      await customer.callback({ code: 'c', iss, state }, '/callback/public'),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.html).toContain('wrong_state');
    }
    expect(received).toEqual([]);
    expect((await customer.callback({ code: 'c', iss, state })).status).toBe(303);
    expect((await customer.callback({ code: 'c', iss, state })).html).toContain('wrong_state');
  });

  test('shows that the user denied, and no text from the URL', async () => {
    const { customer, iss } = await openShop();
    const { state } = await customer.begin();
    const error_description = '<img src=x onerror=alert(1)>';
    const { html } = await customer.callback({ error: 'access_denied', error_description, state, iss });
    expect(html).toContain('No coffee without a name');
    expect(html).toContain('access_denied');
    expect(html).not.toContain('onerror');
  });

  test('handles a refused exchange', async () => {
    const refused = json(400, { error: 'invalid_grant', error_description: 'used' });
    const { customer, iss } = await openShop({ '/v1/oauth/token': refused });
    const { status, html } = await customer.signIn(iss);
    expect([status, html]).toEqual([400, expect.stringContaining('<code>invalid_grant</code>')]);
    expect(await customer.page()).toContain('Sign in to order');
  });
});

test('the token can be revoked, a further request shows that it is invalid, and signing out forgets everything', async () => {
  let dead = false;
  const { customer, received, iss } = await openShop({
    '/v1/oauth/userinfo': () => (dead ? json(401, { error: 'invalid_token' }) : json(200, identity))(),
    '/v1/oauth/revoke': () => {
      dead = true;
      return json(200, { ok: true })();
    },
  });
  await customer.signIn(iss);
  await customer.send('/refresh');
  expect(await customer.page()).toContain('the token is alive');
  await customer.send('/revoke');
  expect(received.at(-1)).toMatchObject({ path: '/v1/oauth/revoke', body: { token: 'svc_at_1' } });
  expect(received.at(-1)?.headers.authorization).toBeUndefined();
  await customer.send('/refresh');
  expect(await customer.page()).toContain('invalid_token');
  const { cookie } = customer;
  await customer.send('/sign-out');
  customer.cookie = cookie;
  expect(await customer.page()).toContain('Sign in to order');
});

test('the browser-only page may only run its own script and connect to the provider', async () => {
  const { config, iss } = await openShop();
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

test('a page that changes something is refused in a prefetch', async () => {
  const { config } = await openShop();
  const gets = ['/', '/callback', '/callback/public', '/spa', '/verify', '/webhooks', '/webhooks/received'];
  for (const header of [
    { 'Sec-Purpose': 'prefetch' },
    { Purpose: 'prefetch' },
    { 'Next-Router-Prefetch': '1' },
  ]) {
    const empty: string[] = [];
    for (const path of gets) {
      const { status } = await fetch(config.url + path, { headers: header });
      if (status === 204) empty.push(path);
    }
    expect(empty).toEqual(['/', '/callback', '/callback/public']);
  }
});
