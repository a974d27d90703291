import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { lookSmallAndWide } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { careful, fillInEndpoint, send, signInWith, startConsole } from './console-pages.ts';

describe('the test tools, in a real browser', () => {
  let provider: TestProvider;
  let browser: Browser;
  let urlOf: (path: string) => string;

  beforeAll(async () => {
    ({ provider, browser, urlOf } = await startConsole(careful));
    return () => browser.close();
  });

  const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const tick = (page: Page, step: string) => page.locator(`#step-${step} .done`).waitFor();

  it('the first steps one by one, each ticked off, look good at both widths', async () => {
    const { page, complaints, asked } = await newProfile(browser);
    const seen = (name?: string) => lookSmallAndWide(page, name);
    const { key } = await provider.key({ mode: 'test' });
    await signInWith(page, provider.origin, key);
    await seen('sandbox-first-steps');
    const home = () => page.getByRole('link', { name: 'Events and endpoints' }).first().click();
    await fillInEndpoint(page, urlOf('/careful'));
    await tick(page, 'endpoint');
    await send(page, 'webhook.test');
    await home();
    await tick(page, 'event');

    await page.getByRole('link', { name: 'Check an endpoint' }).click();
    await seen('sandbox-tools');
    await panel(page, 'Signature check').getByRole('button', { name: 'Check it' }).click();
    await page.getByText('This endpoint verifies signatures').waitFor();
    // The result has the focus, so that the reader sees it.
    await page.locator(':focus', { hasText: 'This endpoint verifies signatures' }).waitFor();
    await seen();
    const passport = panel(page, 'Passport');
    await passport.getByLabel('State').selectOption('Expired already');
    await passport.getByRole('button', { name: 'Mint a passport' }).click();
    await page.getByText('It is shown this once.').waitFor();
    await seen();
    const kyc = panel(page, 'Identity check');
    await kyc.getByLabel('New status').selectOption('Rejected');
    await kyc.getByRole('button', { name: 'Change it' }).click();
    await page.getByText('The identity check is changed').waitFor();

    await home();
    await tick(page, 'signature');
    await page.getByRole('link', { name: 'Make a test payment' }).click();
    const payment = panel(page, 'Payment');
    await payment.getByLabel('Amount').fill('one');
    await payment.getByRole('button', { name: 'Make the payment' }).click();
    await page.getByText('400 invalid_request').waitFor();
    expect(await payment.getByLabel('Amount').inputValue()).toBe('one');
    await page.locator('#amount:focus').waitFor();
    await seen();
    await payment.getByLabel('Amount').fill('30');
    await payment.getByLabel('Outcome').selectOption('Failed (amount .01)');
    await payment.getByRole('button', { name: 'Make the payment' }).click();
    await page.getByText('The payment is initiated').waitFor();
    // The page shows the event without a reload.
    await page.getByText('sandbox_failure').waitFor();
    await page.getByRole('link', { name: 'payment.failed' }).waitFor();
    await seen();

    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByLabel('Status').press('Tab');
    await page.getByRole('button', { name: 'Filter' }).press('Enter');
    await page.getByText('1–1 of 1').waitFor();
    await seen();
    const today = new Date(provider.clock.now()).toISOString().slice(0, 10);
    await page.getByLabel('Day (UTC)', { exact: true }).fill(today);
    await page.getByRole('button', { name: 'Reconcile' }).click();
    await page.getByText('The day is not closed').waitFor();
    await page.getByText('CSV, ').waitFor();
    await seen();
    await home();
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    expect(await page.getByText('First steps').count()).toBe(0);
    // The browser logs the 400 of the refused form.
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
    expect([...asked]).toEqual([provider.origin]);
  }, 90_000);
});
