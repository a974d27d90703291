import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { expect } from 'vitest';
import { authorize, signIn } from '../support/flow.ts';
import { postLogoutRedirectUri, randomText, type Suite } from '../support/suite.ts';
import { type Module, module } from './module.ts';

/** Signs in, and then sends a request to the end-session endpoint. */
async function signedOut(
  suite: Suite,
  parametersOf: (idToken: string, state: string) => Record<string, string> | Promise<Record<string, string>>,
) {
  const browser = suite.newBrowser();
  const { idToken } = await signIn(suite, { browser });
  const state = randomText();
  const parameters = await parametersOf(idToken, state);
  const page = await browser.get(`${suite.endpoint('end_session')}?${new URLSearchParams(parameters)}`);
  /** Checks whether an authorization request without user interaction (`prompt=none`) still succeeds. */
  const isSignedIn = async () => {
    const { callback } = await suite.visit(suite.request({ prompt: 'none' }), { browser });
    if (callback?.get('error') !== null) expect(callback?.get('error')).toBe('login_required');
    return callback?.has('code') ?? false;
  };
  return { browser, page, state, isSignedIn };
}

/**
 * Makes the check of a conformance module: the provider must not redirect the browser, and the user must stay
 * signed in.
 */
const refusedWith =
  (parametersOf: Parameters<typeof signedOut>[1]) =>
  async (suite: Suite): Promise<void> => {
    const { page, isSignedIn } = await signedOut(suite, parametersOf);
    expect([page.status, page.location]).toEqual([400, null]);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await isSignedIn()).toBe(true);
  };

/**
 * Makes the check of a conformance module: the provider must ask the user, who agrees, and must not redirect
 * the browser.
 */
const askedWith =
  (parameters: Record<string, string>) =>
  async (suite: Suite): Promise<void> => {
    const { browser, page, isSignedIn } = await signedOut(suite, () => parameters);
    expect([page.status, page.location]).toEqual([200, null]);
    expect(await isSignedIn()).toBe(true);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const action = /action="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const after = await browser.post(action, { csrf, decision: 'leave' });
    expect([after.status, after.location]).toEqual([200, null]);
    expect(await isSignedIn()).toBe(false);
  };

const screenshot = { review: 'the original asks for a screenshot of the page' };

/** Conformance modules about apps that sign their users out. */
export const logouts: readonly Module[] = [
  module(
    'oidcc-rp-initiated-logout-discovery-endpoint-verification',
    'the metadata names an `end_session_endpoint` with https',
    async ({ metadata }) => expect(metadata.end_session_endpoint).toMatch(/^https:/),
  ),
  module(
    'oidcc-rp-initiated-logout',
    'with an ID token hint, a URI and `state`, the user is signed out, and the browser returns with `state`',
    async (suite) => {
      const { page, state, isSignedIn } = await signedOut(suite, (id_token_hint, given) => ({
        ...{ id_token_hint, state: given, post_logout_redirect_uri: postLogoutRedirectUri },
      }));
      expect(page.location).toBe(`${postLogoutRedirectUri}?state=${state}`);
      expect(await isSignedIn()).toBe(false);
    },
  ),
  module(
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
    'the browser is never sent to a URI that is not registered',
    refusedWith((id_token_hint, state) => ({
      ...{ id_token_hint, state, post_logout_redirect_uri: `${postLogoutRedirectUri}bad` },
    })),
    screenshot,
  ),
  module(
    'oidcc-rp-initiated-logout-modified-id-token-hint',
    'an ID token hint without its signature is refused',
    refusedWith((idToken, state) => ({
      id_token_hint: new UnsecuredJWT(decodeJwt(idToken)).encode(),
      ...{ state, post_logout_redirect_uri: postLogoutRedirectUri },
    })),
    screenshot,
  ),
  module(
    'oidcc-rp-initiated-logout-no-id-token-hint',
    'the browser is never sent to a URI without an ID token hint or a client id',
    refusedWith((_idToken, state) => ({ state, post_logout_redirect_uri: postLogoutRedirectUri })),
    screenshot,
  ),
  module(
    'oidcc-rp-initiated-logout-no-params',
    'without parameters the user is asked, and is signed out after confirming',
    askedWith({}),
    screenshot,
  ),
  module(
    'oidcc-rp-initiated-logout-no-post-logout-redirect-uri',
    'with an ID token hint and no URI, the user is signed out and sees a page that says so',
    async (suite) => {
      const { page, isSignedIn } = await signedOut(suite, (id_token_hint, state) => ({
        id_token_hint,
        state,
      }));
      expect([page.status, page.location]).toEqual([200, null]);
      expect(await isSignedIn()).toBe(false);
    },
    screenshot,
  ),
  module(
    'oidcc-rp-initiated-logout-no-state',
    'without `state` the browser returns without a `state`',
    async (suite) => {
      const { page } = await signedOut(suite, (id_token_hint) => ({
        ...{ id_token_hint, post_logout_redirect_uri: postLogoutRedirectUri },
      }));
      expect(page.location).toBe(postLogoutRedirectUri);
    },
  ),
  module(
    'oidcc-rp-initiated-logout-only-state',
    'with only a `state` the user is asked, and is signed out after confirming',
    askedWith({ state: 'a state' }),
    screenshot,
  ),
  module(
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
    'the browser is never sent to a URI whose query differs from the registered one',
    refusedWith((id_token_hint, state) => ({
      ...{ id_token_hint, state, post_logout_redirect_uri: `${postLogoutRedirectUri}?more=1` },
    })),
    screenshot,
  ),
  module(
    'oidcc-rp-initiated-logout-bad-id-token-hint',
    'an ID token hint that the suite signed is refused',
    refusedWith(async (idToken, state) => ({
      id_token_hint: await new SignJWT(decodeJwt(idToken))
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: String(decodeProtectedHeader(idToken).kid) })
        .sign(new TextEncoder().encode('the secret of the suite, long enough')),
      ...{ state, post_logout_redirect_uri: postLogoutRedirectUri },
    })),
    screenshot,
  ),
];

/** Conformance modules about notifying apps of a sign-out. */
export const backchannel: readonly Module[] = [
  module(
    'oidcc-backchannel-logout-discovery-endpoint-verification',
    'the metadata says that clients are notified of logouts, with the session',
    async ({ metadata }) =>
      expect(metadata).toMatchObject({
        backchannel_logout_supported: true,
        backchannel_logout_session_supported: true,
        end_session_endpoint: expect.any(String),
      }),
  ),
  module(
    'oidcc-backchannel-rp-initiated-logout',
    'a registered client gets a logout token with correct claims when its user is signed out',
    async (suite) => {
      const told = suite.loggedOut.length;
      let idToken = '';
      const { page } = await signedOut(suite, (id_token_hint, state) => {
        idToken = id_token_hint;
        return { id_token_hint, state, post_logout_redirect_uri: postLogoutRedirectUri };
      });
      expect(page.status).toBe(303);
      await suite.work();
      const forms = suite.loggedOut.slice(told).map((body) => new URLSearchParams(body));
      const { code: _, ...later } = await authorize(suite, suite.request());
      expect(later.visit.logins).toBe(1);
      for (const form of forms) {
        const { payload, protectedHeader } = await jwtVerify(
          form.get('logout_token') ?? '',
          createLocalJWKSet(suite.jwks),
          {
            issuer: String(suite.metadata.issuer),
            ...{ algorithms: ['RS256'], typ: 'logout+jwt', currentDate: new Date(suite.clock.now()) },
            requiredClaims: ['iss', 'aud', 'iat', 'exp', 'jti', 'events', 'sub', 'sid'],
          },
        );
        expect(protectedHeader.alg).toBe('RS256');
        expect(payload).not.toHaveProperty('nonce');
        const { sub, sid } = decodeJwt(idToken);
        expect({ sub: payload.sub, sid: payload.sid }).toEqual({ sub, sid });
        expect(payload.events).toEqual({ 'http://schemas.openid.net/event/backchannel-logout': {} });
        expect(Number(payload.exp) - Number(payload.iat)).toBeLessThanOrEqual(120);
      }
      expect(forms.map((form) => decodeJwt(form.get('logout_token') ?? '').aud)).toContain(suite.client.id);
    },
    { note: 'our test does not use https for the logout token, because the client runs on the same machine' },
  ),
];
