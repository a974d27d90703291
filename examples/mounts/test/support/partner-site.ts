import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import type { Deployment } from './deployment.ts';
import type { Proof } from './headers.ts';

/** Website of an app whose users sign in with a real browser. */
export interface PartnerSite {
  readonly page: Page;
  /** URL of the link on the app's page. */
  readonly link: string;
  /** Clicks the link to Ostiary on the app's page, which is on another site. */
  start(parameters?: Record<string, string>): Promise<void>;
  /** Waits until the browser is back at the app, and returns the parameters of the callback. */
  callback(): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** Starts an app on another site than the deployment, with a new browser profile. */
export async function openPartnerSite(browser: Browser, deployment: Deployment): Promise<PartnerSite> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('Content-Type', 'text/html');
    const target = `${deployment.authUrl}/oauth/authorize?${searchParams}`.replaceAll('&', '&amp;');
    response.end(`<!doctype html><title>The app</title><a href="${target}">Sign in</a>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Browsers take `localhost` and `127.0.0.1`, where the deployments are, for different sites.
  const site = `http://localhost:${(server.address() as AddressInfo).port}`;
  const redirectUri = `${site}/callback`;
  const { client } = await deployment.ostiary.admin.clients.create({
    name: 'The app',
    redirectUris: [redirectUri],
    allowedScopes: ['openid'],
    // First-party, because consent is not remembered for other clients with loopback redirect URIs.
    firstParty: true,
  });
  const request = {
    client_id: client.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
  };
  const context = await browser.newContext();
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();

  return {
    page,
    link: `${deployment.authUrl}/oauth/authorize?${new URLSearchParams(request)}`,
    async start(parameters = {}) {
      await page.goto(`${site}/?${new URLSearchParams({ ...request, ...parameters })}`);
      await page.getByRole('link', { name: 'Sign in' }).click();
    },
    async callback() {
      await page.waitForURL(`${redirectUri}?*`);
      return new URL(page.url()).searchParams;
    },
    async close() {
      await context.close();
      server.closeAllConnections();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/** Returns the response headers of a page. */
const headersOf = async (page: Page): Promise<object> => (await page.reload())?.headers() ?? {};

/** Clicks a button of a form, and returns the browser's request. */
async function post(page: Page, name: string | RegExp): Promise<Request> {
  const [request] = await Promise.all([
    page.waitForRequest((sent) => sent.method() === 'POST'),
    page.getByRole('button', { name }).click(),
  ]);
  return request;
}

/** Signs a user in, signs in again with the consent remembered, denies, and revokes the consent. */
export async function walkInBrowser(
  browser: Browser,
  deployment: Deployment,
  { hostHeaders, consentHeaders, origin }: Proof,
): Promise<void> {
  const app = await openPartnerSite(browser, deployment);
  const { page, start, callback } = app;
  try {
    await start();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await headersOf(page)).toMatchObject(hostHeaders);
    await post(page, 'Sign in');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(await headersOf(page)).toMatchObject(consentHeaders);
    const consent = await post(page, 'Allow');
    expect(await consent.headerValue('origin')).toBe(origin(deployment.site));
    expect((await callback()).get('code')).toMatch(/./);

    await start();
    expect((await callback()).get('code')).toMatch(/./);

    await start({ prompt: 'consent' });
    await post(page, 'Deny');
    expect((await callback()).get('error')).toBe('access_denied');

    await page.goto(`${deployment.authUrl}/account/apps`);
    await post(page, /Remove access/);
    await page.getByRole('status').waitFor();
    await start();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  } finally {
    await app.close();
  }
}
