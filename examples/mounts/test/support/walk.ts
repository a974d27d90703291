import { createHmac, randomUUID } from 'node:crypto';
import { keyScopes } from '@ostiary/core/admin';
import { expect } from 'vitest';
import { sink } from '../../../../packages/core/test/webhooks/support/sink.ts';
import { type Answer, ask } from './ask.ts';
import type { Deployment } from './deployment.ts';
import { UserAgent } from './user-agent.ts';

const redirectUri = 'https://partner.example/callback';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/**
 * Signs in through a deployment: authorization request, login, consent, code, token, userinfo, revocation.
 */
export async function signIn(
  { ostiary, site, authUrl, baseUrl }: Deployment,
  { post = false } = {},
): Promise<void> {
  const discovery = (await ask(`${authUrl}/.well-known/openid-configuration`)).json();
  expect(discovery).toMatchObject({ issuer: authUrl, token_endpoint: `${baseUrl}/v1/oauth/token` });
  const { client, clientSecret } = await ostiary.admin.clients.create({
    name: 'Partner app',
    redirectUris: [redirectUri],
    allowedScopes: ['openid', 'profile'],
  });
  const request = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: 'openid profile',
    state: randomUUID(),
  };
  const browser = new UserAgent(site, redirectUri, 'user-ana');
  const endpoint = String(discovery.authorization_endpoint);
  const { callback, logins, consents } = await (post
    ? browser.visit(endpoint, request)
    : browser.visit(`${endpoint}?${new URLSearchParams(request)}`));
  expect([logins, consents]).toEqual([1, 1]);
  expect(callback?.get('state')).toBe(request.state);

  const exchange = {
    grant_type: 'authorization_code',
    code: callback?.get('code') ?? '',
    redirect_uri: redirectUri,
    client_id: client.clientId,
    client_secret: clientSecret ?? '',
  };
  const tokens = await ask(`${baseUrl}/v1/oauth/token`, { method: 'POST', body: exchange });
  expect(tokens.status, tokens.text).toBe(200);
  expect(tokens.headers.get('cache-control')).toBe('no-store');
  const token = String(tokens.json().access_token);

  const userinfo = `${baseUrl}/v1/oauth/userinfo`;
  const inHeader = await ask(userinfo, { headers: bearer(token) });
  expect(inHeader.json()).toMatchObject({ sub: 'user-ana', handle: 'ana' });
  const inForm = await ask(userinfo, { method: 'POST', form: { access_token: token } });
  expect(inForm.json()).toEqual(inHeader.json());
  const apps = await browser.visit(`${authUrl}/account/apps`);
  expect(apps.page.html).toContain('Partner app');

  // A code works only once. This request is a form.
  const again = await ask(`${baseUrl}/v1/oauth/token`, { method: 'POST', form: exchange });
  expect([again.status, again.json().error]).toEqual([400, 'invalid_grant']);
  const revoked = await ask(`${baseUrl}/v1/oauth/revoke`, { method: 'POST', body: { token } });
  expect([revoked.status, revoked.json()]).toEqual([200, { ok: true }]);
  expect((await ask(userinfo, { headers: bearer(token) })).status).toBe(401);
}

/** Address from which no test sends requests, although callers may claim it. */
const elsewhere = '198.51.100.1';

/**
 * Creates a partner with two keys: one allowed only from the address of these tests, and one allowed only
 * from another address.
 */
export async function partnerOf({ ostiary, baseUrl, clientAddress }: Deployment) {
  const { slug } = await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe Lakay' });
  const issue = (address: string) =>
    ostiary.admin.apiKeys.issue({ partner: slug, mode: 'live', scopes: keyScopes, allowlist: [address] });
  const issued = await issue(clientAddress);
  const { key: keyFromElsewhere } = await issue(elsewhere);
  const call = (
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    ask(`${baseUrl}/v1/partner${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': issued.key, ...headers },
      body,
    });
  /** Sends a signed request whose JSON is formatted as no parser would write it again. */
  const signed = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const text = JSON.stringify(body, null, 3);
    const signature = createHmac('sha256', issued.signingSecret).update(text).digest('hex');
    return call(path, text, {
      ...headers,
      'x-svc-signature': signature,
      'x-svc-timestamp': String(Date.now()),
    });
  };
  return { slug, keyFromElsewhere, call, signed };
}

/**
 * Tests the partner API of a deployment: a passport, a signed payment, a repeated payment, and its webhook.
 */
export async function callPartnerApi(deployment: Deployment): Promise<void> {
  const { slug, keyFromElsewhere, call, signed } = await partnerOf(deployment);
  const receiver = await sink();
  const secret = 'a secret of sixteen characters';
  const endpoint = await call('/webhooks', { url: receiver.url, events: ['payment.completed'], secret });
  expect(endpoint.status, endpoint.text).toBe(201);

  const passport = await deployment.ostiary.passports.issue('user-ana');
  const verified = await signed('/verify', { token: passport.token });
  expect(verified.json()).toMatchObject({ valid: true, user: { kid: 'KID-ANA' } });

  const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } };
  const key = { 'idempotency-key': randomUUID() };
  const created = await signed('/payments', payment, key);
  expect(created.status, created.text).toBe(201);
  const repeated = await signed('/payments', payment, key);
  expect(repeated.headers.get('idempotent-replayed')).toBe('true');
  expect(repeated.json()).toEqual(created.json());

  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(1);
  const [event] = receiver.received;
  if (event === undefined) throw new Error('no event');
  expect(event.headers).toMatchObject({
    'x-svc-event': 'payment.completed',
    'x-svc-partner': slug,
    'x-svc-signature': createHmac('sha256', secret)
      .update(`${event.headers['x-svc-timestamp']}.${event.body}`)
      .digest('hex'),
  });
  expect(JSON.parse(event.body.toString()).data).toMatchObject({
    id: created.json().id,
    status: 'completed',
  });

  // A caller that claims another address is still identified by its own.
  const forged = { 'x-forwarded-for': elsewhere };
  expect((await call('/whoami', undefined, forged)).status).toBe(200);
  const refused = await call('/whoami', undefined, { ...forged, 'x-api-key': keyFromElsewhere });
  expect([refused.status, refused.json().code]).toEqual([403, 'ip_not_allowed']);
}

/**
 * Checks that the host app handles requests that are not for Ostiary, with its own parsers, including unknown
 * paths.
 */
export async function visitShop({ site }: Deployment, more: readonly string[] = []): Promise<void> {
  expect((await ask(`${site}/shop`)).text).toContain('The shop of nobody');
  const order = await ask(`${site}/shop/orders`, { method: 'POST', body: { item: 'rice' } });
  expect(order.json()).toEqual({ ordered: 'rice' });
  // The host responds: Ostiary would add `X-Request-Id`.
  for (const path of ['/nowhere', ...more]) {
    const missing = await ask(`${site}${path}`, { headers: { accept: 'text/html' } });
    expect([path, missing.status, missing.headers.get('x-request-id')]).toEqual([path, 404, null]);
  }
}
