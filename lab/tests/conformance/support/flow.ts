import { expect } from 'vitest';
import type { Answer, TestBrowser } from '../../../../packages/core/test/support/browser.ts';
import { basic, type TestClient } from '../../../../packages/core/test/support/provider.ts';
import {
  checkErrorResponse,
  checkIdToken,
  checkSuccessResponse,
  checkTokenResponse,
  checkUserinfo,
} from './conditions.ts';
import { redirectUri, type Suite, type Visit } from './suite.ts';

/** How the client proves who it is at the token endpoint. */
export type ClientAuthentication = 'client_secret_basic' | 'client_secret_post';

/** What a flow may do otherwise than the plain one. */
export interface FlowOptions {
  readonly browser?: TestBrowser;
  readonly parameters?: Record<string, string>;
  readonly client?: TestClient;
  readonly authentication?: ClientAuthentication;
  /** More members of the token request. */
  readonly tokenRequest?: Record<string, string>;
  /** Sends the authorization request as a form. */
  readonly post?: boolean;
}

/** All that one sign-in brought. */
export type SignIn = Awaited<ReturnType<typeof signIn>>;

/** Presents a code at the token endpoint. */
export function exchange(
  suite: Suite,
  code: string,
  { client = suite.client, authentication = 'client_secret_basic', tokenRequest = {} }: FlowOptions = {},
): Promise<Answer> {
  const inForm = authentication === 'client_secret_post';
  return suite.ask(suite.endpoint('token'), {
    method: 'POST',
    headers: inForm ? {} : { authorization: basic(client.id, client.secret) },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      ...(inForm ? { client_id: client.id, client_secret: client.secret ?? '' } : {}),
      ...tokenRequest,
    }),
  });
}

/** Reads userinfo with the token in the header. */
export function userinfo(suite: Suite, accessToken: string, method = 'GET'): Promise<Answer> {
  return suite.ask(suite.endpoint('userinfo'), {
    method,
    headers: { authorization: `Bearer ${accessToken}` },
  });
}

/** Lets the user answer an authorization request that has to succeed; answers the code. */
export async function authorize(
  suite: Suite,
  request: Record<string, string>,
  { browser, post }: FlowOptions = {},
): Promise<{ readonly visit: Visit; readonly code: string }> {
  const visit = await suite.visit(request, browser, post);
  const code = checkSuccessResponse(suite, request, visit.callback);
  return { visit, code };
}

/** A whole sign-in, with everything checked that holds for each: answers, code, tokens, ID token, userinfo. */
export async function signIn(suite: Suite, options: FlowOptions = {}) {
  const { client = suite.client, authentication = 'client_secret_basic' } = options;
  expect(suite.metadata.token_endpoint_auth_methods_supported).toContain(authentication);
  const request = suite.request(options.parameters, client);
  const { visit, code } = await authorize(suite, request, options);

  const answer = await exchange(suite, code, options);
  const { accessToken, idToken } = checkTokenResponse(answer);
  const { claims, header } = await checkIdToken(suite, idToken, { client, request, accessToken });
  const record = checkUserinfo(await userinfo(suite, accessToken), claims.sub);
  return { visit, code, accessToken, idToken, claims, header, tokens: answer.json(), userinfo: record };
}

/** Sends a request that has to come back with an error; answers the error. */
export async function refused(suite: Suite, request: Record<string, string>): Promise<string> {
  const { callback } = await suite.visit(request);
  return checkErrorResponse(suite, request, callback);
}
