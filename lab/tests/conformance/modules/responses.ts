import { expect } from 'vitest';
import { authorize, refused, signIn } from '../support/flow.ts';
import { randomText } from '../support/suite.ts';
import type { RunModule } from './module.ts';

export const server: RunModule = {
  name: 'oidcc-server',
  checks: 'a whole sign-in: answers, code, token, ID token with signature and `at_hash`, userinfo',
  async run(suite) {
    const { visit, tokens, header } = await signIn(suite);
    expect([visit.logins, visit.consents]).toEqual([1, 1]);
    expect(header.alg).toBe('RS256');
    expect(tokens.scope).toBe('openid');
  },
};

export const responseTypeMissing: RunModule = {
  name: 'oidcc-response-type-missing',
  checks: 'without `response_type` the client is told `invalid_request`',
  async run(suite) {
    const { response_type: _, ...request } = suite.request();
    expect(await refused(suite, request)).toBe('invalid_request');
  },
};

export const withoutNonce: RunModule = {
  name: 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
  checks: 'a request without `nonce` gets a code',
  async run(suite) {
    const { nonce: _, ...request } = suite.request();
    await authorize(suite, request);
  },
};

export const registeredRedirectUri: RunModule = {
  name: 'oidcc-ensure-registered-redirect-uri',
  checks: 'a redirect URI that is not registered is never called: the user sees why, on a page',
  note: 'the original asks for a screenshot of the page',
  async run(suite) {
    const redirectUri = `https://suite.example/${randomText()}`;
    const request = suite.request({ redirect_uri: redirectUri });
    const { callback, page } = await suite.newBrowser().visit(suite.requestUrl(request));
    expect(callback).toBeNull();
    expect([page.status, page.headers.location]).toEqual([400, undefined]);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.text).toContain('redirect_uri_mismatch');
  },
};

export const postRequest: RunModule = {
  name: 'oidcc-ensure-post-request-succeeds',
  checks: 'the authorization request may be a POST',
  async run(suite) {
    await signIn(suite, { post: true });
  },
};

export const clientSecretPost: RunModule = {
  name: 'oidcc-server-client-secret-post',
  checks: 'a whole sign-in with the client secret in the form',
  async run(suite) {
    await signIn(suite, { authentication: 'client_secret_post' });
  },
};
