import { memoryStorage } from '@ostiary/testing/memory';
import type { BrowserContext } from 'playwright-core';
import { expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import { hostCookie } from '../support/directory.ts';
import { afterwards, startProvider } from '../support/running.ts';

const storage = memoryStorage();
const provider = await startProvider({ storage });
const client = await provider.client();
const chromium = await launchBrowser();
afterwards(() => chromium.close());

// A site that sends every user who is not signed in to an app, which signs them in with this provider.
provider.host.pages = (request, response) => {
  if (request.url?.startsWith('/members/'))
    return response.writeHead(302, { location: provider.authorizeUrl(client) }).end();
  response.setHeader('Content-Type', 'text/html');
  response.end(`<!doctype html><title>The site</title><p>Cart of ${hostCookie(request)}</p>`);
};

/** Opens a page of the site in a new Chromium that has the site's session cookie. */
async function visit(session: string) {
  const context = await chromium.newContext();
  await context.addCookies([{ name: 'host', value: session, url: provider.origin }]);
  const page = await context.newPage();
  await page.goto(`${provider.origin}/shop`);
  return { context, page };
}

/** Counts the cookies in Chromium by name. */
async function jar(context: BrowserContext): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await context.cookies()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

it('sixty calls of fetch that are redirected to authorize start nothing and set no cookie in Chromium', async () => {
  const { context, page } = await visit('fetching');
  const answers = await page.evaluate(async () => {
    const errors: [number, unknown][] = [];
    for (let call = 0; call < 60; call += 1) {
      const response = await fetch(`/members/${call}`);
      errors.push([response.status, ((await response.json()) as { error: unknown }).error]);
    }
    return errors;
  });
  expect(answers).toEqual(Array(60).fill([401, 'login_required']));
  expect(await storage.interactions.count(provider.clock.now())).toBe(0);
  expect(await jar(context)).toEqual({ host: 1 });
  await page.reload();
  expect(await page.textContent('p')).toBe('Cart of fetching');
});

it('sixty sign-ins that a user begins leave the session cookie of the site in the jar of Chromium', async () => {
  const { context, page } = await visit('navigating');
  for (let visited = 0; visited < 60; visited += 1) {
    await page.goto(`${provider.origin}/members/${visited}`);
    expect(new URL(page.url()).pathname).toBe('/login');
  }
  expect(await storage.interactions.count(provider.clock.now())).toBe(60);
  expect(await jar(context)).toEqual({ host: 1, svc_interaction: 60, 'svc_interaction.sig': 60 });
  expect(await page.textContent('p')).toBe('Cart of navigating');
});
