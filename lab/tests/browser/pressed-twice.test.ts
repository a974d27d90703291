import { operatorsConsole, sandboxConsole } from '@ostiary/console';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { manyRequests, TestRail } from '../../../packages/core/test/support/partner-api.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { signInWith } from './console-pages.ts';

/** Counts the posted forms, and lets the browser wait for each answer. */
async function slowly(page: Page): Promise<string[]> {
  const posted: string[] = [];
  await page.route('**/*', async (route) => {
    if (route.request().method() === 'POST') {
      posted.push(new URL(route.request().url()).pathname);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
    await route.continue().catch(() => undefined);
  });
  return posted;
}

/** Presses a button, and presses it again while the browser waits for the answer. */
async function pressTwice(page: Page, button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  const { x = 0, y = 0 } = (await button.boundingBox()) ?? {};
  for (const _ of [1, 2]) {
    await page.mouse.click(x + 20, y + 10);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

it('a button that is pressed again while the server is slow does nothing twice', async () => {
  const browser = await launchBrowser();
  const provider = await startProvider({
    payments: new TestRail(),
    partnerLimits: manyRequests,
    console: sandboxConsole(),
    webhooks: { resolve: async () => ['93.184.216.34'] },
    operators: { authenticate: () => ({ name: 'ana@example.com' }), pages: operatorsConsole() },
  });
  const { page } = await newProfile(browser);
  const posted = await slowly(page);
  await page.goto(`${provider.origin}/operators/partners`);
  await page.getByLabel('Slug').fill('lakay');
  await page.getByLabel('Name', { exact: true }).fill('Lakay');
  await pressTwice(page, page.getByRole('button', { name: 'Create a partner' }));
  await page.getByText('It is created.').waitFor();
  await page.goto(`${provider.origin}/operators/partners/lakay/keys`);
  await page.getByLabel('webhooks').check();
  await pressTwice(page, page.getByRole('button', { name: 'Issue a key' }));
  await page.getByText(/^svc_test_\w{30,}$/).waitFor();
  expect(await provider.ostiary.admin.apiKeys.list('lakay')).toHaveLength(1);
  const { key } = await provider.key({ mode: 'test', partner: 'lakay' });
  await signInWith(page, provider.origin, key);
  await page.getByLabel('Type', { exact: true }).selectOption('webhook.test');
  await pressTwice(page, page.getByRole('button', { name: 'Send' }));
  await page.getByRole('heading', { name: 'webhook.test' }).waitFor();
  // After going back, the form can be sent again.
  await page.goBack();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('heading', { name: 'webhook.test' }).waitFor();
  expect(posted).toEqual([
    '/operators/partners',
    '/operators/partners/lakay/keys',
    ...['/sandbox/sign-in', '/sandbox/trigger', '/sandbox/trigger'],
  ]);
  await browser.close();
}, 60_000);
