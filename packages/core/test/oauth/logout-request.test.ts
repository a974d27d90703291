import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { back, loggingOut, postLogoutRedirectUris } from '../support/logging-out.ts';
import { TestClock, TestProvider } from '../support/provider.ts';

const { provider, client, hint, logout, isSignedIn } = await loggingOut();

/** A token that a client has forged with its own secret. */
const forged = await new SignJWT({ iss: provider.site, sub: ana.sub, aud: client.id })
  .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
  .sign(new TextEncoder().encode(client.secret ?? ''));
const stranger = await TestProvider.start();
const strangers = String((await stranger.tokens(await stranger.client({ clientId: client.id }))).id_token);
await stranger.stop();
const other = await provider.client();
const { token: passport } = await provider.ostiary.passports.issue(ana.sub);

describe('a logout that is refused', () => {
  it.each<readonly [string, Record<string, string>, string]>([
    [
      'to an address that is not registered',
      { id_token_hint: hint, post_logout_redirect_uri: 'https://evil.example/' },
      '400 redirect_uri_mismatch',
    ],
    [
      'to the address of a sign-in',
      { id_token_hint: hint, post_logout_redirect_uri: client.redirectUri },
      '400 redirect_uri_mismatch',
    ],
    [
      'to one with more in its query',
      { id_token_hint: hint, post_logout_redirect_uri: `${back}?x=1` },
      '400 redirect_uri_mismatch',
    ],
    [
      'to one with a slash more',
      { id_token_hint: hint, post_logout_redirect_uri: `${back}/` },
      '400 redirect_uri_mismatch',
    ],
    [
      'to an address of another client',
      { client_id: other.id, post_logout_redirect_uri: back },
      '400 redirect_uri_mismatch',
    ],
    ['to an address of nobody', { post_logout_redirect_uri: back }, '400 invalid_request'],
    ['with a client that there is not', { client_id: 'nobody' }, '401 invalid_client'],
    ['with a hint of another client', { client_id: other.id, id_token_hint: hint }, '400 invalid_request'],
    ['with a hint that is long', { id_token_hint: 'x'.repeat(8193) }, '400 invalid_request'],
    ['with a state that is long', { id_token_hint: hint, state: 'x'.repeat(4097) }, '400 invalid_request'],
  ])('%s ends nothing and goes nowhere', async (_name, parameters, outcome) => {
    const browser = provider.browser();
    const page = await logout(parameters, browser);
    expect([page.outcome, page.location]).toEqual([outcome, null]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it.each([
    ['was changed', `${hint.slice(0, -6)}AAAAAA`],
    ['is of another service', strangers],
    ['was signed by the client', forged],
    ['is a passport', passport],
    ['is nothing', 'x.y.z'],
  ])('a hint that %s proves nothing: it leads nowhere, and alone the user is asked', async (_what, token) => {
    const browser = provider.browser();
    const page = await logout({ id_token_hint: token, post_logout_redirect_uri: back }, browser);
    expect([page.outcome, page.location]).toEqual(['400 invalid_request', null]);
    expect(page.text).toContain('The id_token_hint is not an ID token of this service.');
    const asked = await logout({ id_token_hint: token }, browser);
    expect([asked.status, asked.text.includes('>Sign out</button>')]).toEqual([200, true]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('a hint of another issuer proves nothing, though the keys are the same', async () => {
    const shared = { clock: new TestClock(), storage: memoryStorage(), sealingKeys: [randomBytes(32)] };
    const one = await loggingOut({ ...shared, issuer: 'https://old.example' });
    const two = await loggingOut(shared);
    const page = await two.logout({ id_token_hint: one.hint });
    expect(page.text).toContain('>Sign out</button>');
  });

  it('because a parameter came twice', async () => {
    const browser = provider.browser();
    const twice = `post_logout_redirect_uri=${back}&post_logout_redirect_uri=${back}&client_id=${client.id}`;
    expect((await browser.get(`${provider.site}/oauth/logout?${twice}`)).outcome).toBe('400 invalid_request');
  });

  it('because the client was disabled', async () => {
    const app = await provider.client({ postLogoutRedirectUris });
    await provider.ostiary.admin.clients.disable(app.id);
    const page = await logout({ client_id: app.id, post_logout_redirect_uri: back });
    expect([page.outcome, page.location]).toEqual(['401 invalid_client', null]);
  });
});
