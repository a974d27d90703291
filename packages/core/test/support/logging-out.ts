import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OstiaryOptions } from '../../src/index.ts';
import type { Answer, TestBrowser } from './browser.ts';
import { Host, hostCookie } from './directory.ts';
import { startProvider } from './running.ts';

export const back = 'https://app.example/bye';
export const postLogoutRedirectUris = [back, 'https://app.example/bye?from=service'];

/**
 * Starts a provider whose host can sign users out, with a client, its ID token, and browsers for signing out.
 */
export async function loggingOut(options: Partial<OstiaryOptions> = {}) {
  const host = new Host();
  const signedOut: string[] = [];
  const login = {
    ...host.login,
    signOut(request: IncomingMessage, response: ServerResponse) {
      const browser = hostCookie(request);
      signedOut.push(browser);
      host.signOut(browser);
      response.appendHeader('Set-Cookie', 'session=; Max-Age=0; Path=/');
    },
  };
  const provider = await startProvider({ login, ...options }, host);
  const client = await provider.client({ name: 'Rara <b>Market</b>', postLogoutRedirectUris });
  return {
    provider,
    signedOut,
    client,
    hint: String((await provider.tokens(client)).id_token),
    logout: (parameters: Record<string, string>, browser = provider.browser()) =>
      browser.get(`${provider.site}/oauth/logout?${new URLSearchParams(parameters)}`),
    isSignedIn: async (browser: TestBrowser) =>
      (await provider.attempt(client, { prompt: 'none' }, browser)) === 'code',
  };
}

/** Submits the page that asks the user to confirm signing out. */
export async function answer(
  page: Answer,
  decision: string,
  browser: TestBrowser,
  changes: Record<string, string> = {},
) {
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const action = /action="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return browser.post(action, { csrf, decision, ...changes });
}
