import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { serve, startProvider } from '../../../packages/core/test/support/running.ts';
import { launchBrowser } from '../../support/browser/browser.ts';

interface Call {
  readonly method?: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Runs `fetch` inside the page, as its script would. */
function fetchIn(page: Page, url: string, init: Call): Promise<Reply> {
  return page.evaluate(
    async ([address, options]) => {
      const response = await fetch(address, options);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    [url, init] as const,
  );
}

/** An application without a server of its own: an empty page at every path. */
const emptyPage = (_request: IncomingMessage, response: ServerResponse) =>
  response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>An app</title>');

const post = (body: object): Call => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

it('an app that lives in the browser alone signs in with PKCE and plain fetch, reads userinfo and revokes; another origin is kept out by the browser', async () => {
  const provider = await startProvider();
  const [app, stranger] = [await serve(emptyPage), await serve(emptyPage)];
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const client = await provider.client({ public: true, redirectUris: [`${app}/callback`] });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(app);
  const verifier = 'v'.repeat(43);
  const challenge = await page.evaluate(async (text) => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
    return btoa(String.fromCharCode(...digest))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  }, verifier);
  provider.host.signIn('spa', ana.sub, new Date(provider.clock.now() - 1000));
  await context.addCookies([{ name: 'host', value: 'spa', url: provider.origin }]);
  await page.goto(
    provider.authorizeUrl(client, {
      scope: 'openid profile',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }),
  );
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(`${app}/callback**`);
  const callback = new URL(page.url()).searchParams;
  expect(callback.get('iss')).toBe(provider.origin);

  const exchange = post({
    grant_type: 'authorization_code',
    code: callback.get('code'),
    redirect_uri: client.redirectUri,
    client_id: client.id,
    code_verifier: verifier,
  });
  const thief = await context.newPage();
  await thief.goto(stranger);
  const userinfoUrl = `${provider.origin}/v1/oauth/userinfo`;
  const revokeUrl = `${provider.origin}/v1/oauth/revoke`;
  // A preflight that answers nothing: the request itself is never sent, so that the code stays unused.
  await expect(fetchIn(thief, `${provider.origin}/v1/oauth/token`, exchange)).rejects.toThrow(
    /Failed to fetch/,
  );

  const tokens = await fetchIn(page, `${provider.origin}/v1/oauth/token`, exchange);
  expect(tokens.status).toBe(200);
  const headers = { Authorization: `Bearer ${tokens.body.access_token}` };
  expect((await fetchIn(page, userinfoUrl, { headers })).body).toMatchObject({
    sub: ana.sub,
    handle: 'ana',
  });
  await expect(fetchIn(thief, userinfoUrl, { headers })).rejects.toThrow(/Failed to fetch/);

  const replay = await fetchIn(page, `${provider.origin}/v1/oauth/token`, exchange);
  expect(replay).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  expect(await fetchIn(page, revokeUrl, post({ token: tokens.body.access_token }))).toEqual({
    status: 200,
    body: { ok: true },
  });
  expect((await fetchIn(page, userinfoUrl, { headers })).body).toMatchObject({ error: 'invalid_token' });
});
