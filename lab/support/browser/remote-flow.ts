import { TestBrowser } from '../../../packages/core/test/support/browser.ts';
import { jsonPost } from '../http.ts';

/** Credentials of an OAuth client, and the client's redirect URI. */
export interface RemoteClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

/** Browser that can send its requests to any of several processes behind one URL. */
export class RoamingBrowser extends TestBrowser {
  /** All cookies that the provider ever set, as `name=value`. */
  readonly received: string[] = [];

  constructor(authUrl: string, sub: string) {
    super(authUrl);
    this.setCookie('host', sub, '/');
  }

  /**
   * Requests a page of the provider from the process at `origin`. `location` in the result is the target of
   * the redirect: a path if the target is a page of the provider, and '' without a redirect.
   */
  async visit(
    origin: string,
    path: string,
    form?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly location: string; readonly text: string }> {
    this.connectTo(origin);
    const { status, headers, location, text } = await (form === undefined
      ? this.get(path)
      : this.post(path, form));
    this.received.push(...headers.getSetCookie().map((line) => line.split(';')[0] ?? ''));
    return { status, location: location?.replace(new RegExp(`^${this.origin}(?=/)`), '') ?? '', text };
  }
}

/** Returns the path of an authorization request. */
export function authorizePath(client: RemoteClient, more: Record<string, string> = {}): string {
  const query = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirectUri,
    scope: 'openid',
    state: 's',
    ...more,
  };
  return `/oauth/authorize?${new URLSearchParams(query)}`;
}

/** Returns the CSRF token in the form of a consent page. */
export function csrfOf(page: string): string {
  return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

/**
 * Approves the consent page if the provider shows one, and returns the code. Each request goes to the next of
 * the given processes.
 */
export async function codeFrom(
  origins: readonly string[],
  browser: RoamingBrowser,
  path: string,
): Promise<string> {
  let turn = 0;
  const next = (): string => origins[turn++ % origins.length] ?? '';
  let step = await browser.visit(next(), path);
  if (step.location.startsWith('/oauth/interaction/')) {
    const page = step.location;
    const { text } = await browser.visit(next(), page);
    const answered = await browser.visit(next(), page, { csrf: csrfOf(text), decision: 'approve' });
    step = await browser.visit(next(), answered.location);
  }
  const code = URL.canParse(step.location) ? new URL(step.location).searchParams.get('code') : null;
  if (code === null)
    throw new Error(`no code but ${step.status} ${step.location} ${step.text.slice(0, 200)}`);
  return code;
}

/** Exchanges a code at one process; `undefined` removes a parameter of the token request. */
export async function exchangeAt(
  origin: string,
  client: RemoteClient,
  code: string,
  changes: Record<string, string | undefined> = {},
): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> {
  const body = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    client_id: client.id,
    client_secret: client.secret,
    ...changes,
  };
  const response = await fetch(`${origin}/v1/oauth/token`, jsonPost(body));
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

/** Returns the status of the userinfo response of one process to an access token. */
export async function userinfoStatusAt(origin: string, token: string): Promise<number> {
  const response = await fetch(`${origin}/v1/oauth/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await response.arrayBuffer();
  return response.status;
}
