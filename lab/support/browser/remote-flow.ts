import { createHash, randomBytes } from 'node:crypto';

/** A client as these tests know it. */
export interface RemoteClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

/** A fresh PKCE pair. */
export function pkcePair(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** A browser that can be pointed at any of several processes which serve one address. */
export class RoamingBrowser {
  readonly #authUrl: string;
  readonly #cookies = new Map<string, { readonly pair: string; readonly path: string }>();
  /** Every cookie that was ever set, `name=value`. */
  readonly received: string[] = [];

  constructor(authUrl: string, sub: string) {
    this.#authUrl = authUrl;
    this.#cookies.set('host', { pair: `host=${sub}`, path: '/' });
  }

  /** Asks the process at `origin` for a page of the provider; answers where it leads, as a path for its own pages. */
  async visit(
    origin: string,
    path: string,
    form?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly location: string; readonly text: string }> {
    const pathname = path.split('?')[0] ?? '';
    const cookies = [...this.#cookies.values()].filter((cookie) => pathname.startsWith(cookie.path));
    const response = await fetch(origin + path, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { accept: 'text/html', cookie: cookies.map(({ pair }) => pair).join('; ') },
      redirect: 'manual',
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      this.received.push(pair);
      const cookiePath = /path=([^;]*)/i.exec(line)?.[1] ?? '/';
      this.#cookies.set(`${pair.split('=')[0]} ${cookiePath}`, { pair, path: cookiePath });
    }
    const location = response.headers.get('location') ?? '';
    return {
      status: response.status,
      location: location.startsWith(this.#authUrl) ? location.slice(this.#authUrl.length) : location,
      text: await response.text(),
    };
  }
}

/** The path of an authorization request. */
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

/** The token that stands in a consent page's form. */
export function csrfOf(page: string): string {
  return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

/** Walks through the consent page if there is one; every step goes to the next of the given processes. */
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

/** Exchanges a code at one process; `undefined` takes a member away. */
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
  const response = await fetch(`${origin}/v1/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

/** The status of userinfo for a token at one process. */
export async function userinfoStatusAt(origin: string, token: string): Promise<number> {
  const response = await fetch(`${origin}/v1/oauth/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await response.arrayBuffer();
  return response.status;
}
