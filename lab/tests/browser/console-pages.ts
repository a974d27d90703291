import type { RequestListener } from 'node:http';
import { sandboxConsole } from '@ostiary/console';
import type { OstiaryOptions } from '@ostiary/core';
import { safeVerify } from '@ostiary/webhook-verifier';
import type { Page } from 'playwright-core';
import { systemClock } from '../../../packages/core/src/time/clock.ts';
import { manyRequests, TestRail } from '../../../packages/core/test/support/partner-api.ts';
import { serve, startProvider } from '../../../packages/core/test/support/running.ts';
import { launchBrowser } from '../../support/browser/browser.ts';

/** Secret of the endpoints that tests register. */
export const secret = 'whsec_0123456789abcdef';

/**
 * Starts a browser, and a provider whose console delivers to a webhook receiver. All but the browser end with
 * the test file.
 */
export async function startConsole(receive: RequestListener, options: Partial<OstiaryOptions> = {}) {
  const receiver = await serve(receive);
  const provider = await startProvider({
    payments: new TestRail(),
    partnerLimits: manyRequests,
    console: sandboxConsole(),
    clock: systemClock,
    ...options,
    webhooks: { allowPrivateTargets: true, resolve: async () => ['127.0.0.1'], ...options.webhooks },
  });
  provider.ostiary.worker.start();
  return {
    provider,
    browser: await launchBrowser(),
    /** Returns the URL of a path at the webhook receiver. */
    urlOf: (path: string): string => `http://shop.example:${new URL(receiver).port}${path}`,
  };
}

/** Request listener of a webhook receiver that verifies signatures, except at the path `/careless`. */
export const careful: RequestListener = async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { ok } = await safeVerify(Buffer.concat(chunks), request.headers, { secret });
  response.writeHead(ok || request.url === '/careless' ? 200 : 400).end(ok ? 'taken' : 'what is this?');
};

/**
 * Fills in the console's form for a new endpoint and calls `look` before the form is sent. From the page that
 * shows the verifier's code, the function returns to the first page.
 */
export async function fillInEndpoint(page: Page, url: string, look = async () => {}): Promise<void> {
  await page.getByRole('link', { name: 'Add an endpoint' }).click();
  await page.getByLabel('URL').fill(url);
  await page.getByLabel('Webhook secret').fill(secret);
  await look();
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  await page.getByText('The endpoint is registered.').waitFor();
  await page.getByText('Waiting for the first event').first().waitFor();
  await page.getByRole('link', { name: 'Events and endpoints' }).first().click();
}

/** Triggers a test event of a type, by default of the first type in the list. */
export async function send(page: Page, type?: string): Promise<void> {
  if (type !== undefined) await page.getByLabel('Type', { exact: true }).selectOption(type);
  await page.getByRole('button', { name: 'Send' }).click();
}

export async function signInWith(page: Page, origin: string, key: string): Promise<void> {
  await page.goto(`${origin}/sandbox`);
  await page.getByLabel('Test API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
}

/** Marks the page, so that a later reload is detected. */
export const mark = (page: Page): Promise<void> =>
  page.evaluate(() => {
    document.documentElement.dataset.mark = 'here';
  });

export const isMarked = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.dataset.mark === 'here');
