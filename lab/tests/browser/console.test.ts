import type { RequestListener } from 'node:http';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestKey, TestProvider } from '../../../packages/core/test/support/provider.ts';
import { lookSmallAndWide } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { fillInEndpoint, isMarked, mark, secret, send, signInWith, startConsole } from './console-pages.ts';

/** Response body of a broken webhook receiver. */
const excuse = '<h1>Bad gateway</h1>\nCannot read properties of undefined (reading "id")';

describe('the sandbox console, in a real browser', () => {
  let provider: TestProvider;
  let browser: Browser;
  let urlOf: (path: string) => string;
  /** Response statuses of the webhook receiver by path, for paths with another status than 200. */
  const statuses = new Map<string, number>();
  const received: { readonly path: string; readonly event: string }[] = [];

  beforeAll(async () => {
    const receive: RequestListener = (request, response) => {
      const path = request.url ?? '';
      received.push({ path, event: String(request.headers['x-svc-eventid']) });
      request.resume();
      response.statusCode = statuses.get(path) ?? 200;
      response.end(response.statusCode === 200 ? '{"received":true}' : excuse);
    };
    // Delays of which a test can wait for the first but not for the second.
    const webhooks = { retryDelaysSeconds: [3, 1800, 7200, 7200] };
    ({ provider, browser, urlOf } = await startConsole(receive, { webhooks }));
    return () => browser.close();
  });

  let partners = 0;
  async function newKey(): Promise<TestKey> {
    partners += 1;
    return provider.key({ mode: 'test', partner: await provider.partner(`rara-market-${partners}`) });
  }

  async function newEndpoint(key: TestKey, path: string): Promise<string> {
    const body = { url: urlOf(path), events: ['*'], secret };
    const answer = await provider.partnerCall(key, 'POST /v1/partner/webhooks', body);
    expect(answer.status).toBe(201);
    return String(answer.json().id);
  }

  const visit = (options: BrowserContextOptions = {}) => newProfile(browser, options);

  const addEndpoint = (page: Page, path: string, look?: () => Promise<void>) =>
    fillInEndpoint(page, urlOf(path), look);
  const signIn = (page: Page, { key }: TestKey) => signInWith(page, provider.origin, key);

  it('at both widths: sign in, register, trigger, see it arrive without a reload, deliver it again', async () => {
    const { page, asked, complaints } = await visit();
    const key = await newKey();
    await page.goto(`${provider.origin}/sandbox`);
    await lookSmallAndWide(page, 'sandbox-sign-in');
    await signIn(page, key);
    await lookSmallAndWide(page);
    for (const path of ['/webhooks', '/broken']) {
      await addEndpoint(page, path, () => lookSmallAndWide(page));
    }
    statuses.set('/broken', 502);

    await page.getByLabel('Type', { exact: true }).selectOption('payment.completed');
    await page.getByRole('button', { name: 'Edit the data first' }).click();
    const data = page.getByLabel('Data', { exact: true });
    await data.fill((await data.inputValue()).replace('"125.00"', '"99.00"'));
    await lookSmallAndWide(page, 'sandbox-trigger');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: 'payment.completed' }).waitFor();
    await mark(page);
    await page.getByText('Your endpoint took the event.').waitFor();
    await page.getByText('The server failed while it handled the event.').waitFor();
    await page.getByText(/^\(\d+ min \d+ sec\)$/).waitFor();
    expect(await isMarked(page)).toBe(true);
    expect(await page.locator('[aria-labelledby=body]').getByText('"amount": "99.00"').count()).toBe(1);
    const broken = page.locator('.delivery').filter({ hasText: '/broken' });
    await broken.getByText('What it answered').last().click();
    await broken.getByText('<h1>Bad gateway</h1>').last().waitFor();
    await lookSmallAndWide(page, 'sandbox-event');
    await broken.getByText('What was sent').first().click();
    await broken.getByText('Attempt 1 as curl').first().waitFor();
    await lookSmallAndWide(page, 'sandbox-attempt');

    const [, , id = ''] = new URL(page.url()).pathname.split('/').slice(1);
    const arrived = () => received.filter(({ path, event }) => path === '/webhooks' && event === id);
    expect(arrived()).toHaveLength(1);
    statuses.delete('/broken');
    await page.getByRole('button', { name: 'Deliver again', exact: true }).click();
    await page.getByText('The event is on its way again.').waitFor();
    await page.getByText('Your endpoint took the event.').nth(1).waitFor();
    expect(arrived()).toHaveLength(2);

    await page
      .getByRole('link', { name: urlOf('/broken') })
      .first()
      .click();
    await page.getByText('Registered').waitFor();
    await lookSmallAndWide(page, 'sandbox-endpoint');
    await page.getByRole('link', { name: 'Edit address and types' }).click();
    await page.getByRole('heading', { name: 'Edit an endpoint' }).waitFor();
    await lookSmallAndWide(page, 'sandbox-edit');
    await page.getByRole('link', { name: 'Events and endpoints' }).first().click();
    for (const type of ['webhook.test', 'kyc.updated']) {
      await send(page, type);
      await page.getByRole('link', { name: 'Events and endpoints' }).first().click();
    }
    await page.locator('#event-list li').nth(2).waitFor();
    await lookSmallAndWide(page, 'sandbox');

    await page.getByRole('link', { name: 'API requests' }).click();
    await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
    const payment = { amount: '12.5', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } };
    await provider.partnerCall(key, 'GET /v1/partner/whoami');
    const refused = await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
    // The page shows the request without a reload.
    await page.locator('#request-list li').nth(1).waitFor();
    await lookSmallAndWide(page, 'sandbox-requests');
    await page.getByLabel('Request id').fill(String(refused.json().requestId));
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('has to be a decimal string').waitFor();
    await lookSmallAndWide(page, 'sandbox-request');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    expect(complaints).toEqual([]);
    expect([...asked]).toEqual([provider.origin]);
  });

  it('a failed delivery is explained, counted down and seen to succeed; focus and open details stay', async () => {
    const { page, complaints } = await visit({ viewport: { width: 1000, height: 500 } });
    const key = await newKey();
    await newEndpoint(key, '/flaky');
    statuses.set('/flaky', 500);
    await signIn(page, key);
    await send(page, 'webhook.test');
    await page.getByText('Attempt 1 of 5').waitFor();
    await mark(page);
    await page.getByText(/\(in \d seconds?\)/).waitFor();
    const summary = page.getByText('What it answered');
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.evaluate(() => scrollTo(0, 120));
    statuses.delete('/flaky');

    await page.getByText('Attempt 2 of 5').waitFor();
    expect(await isMarked(page)).toBe(true);
    expect(await page.getByText(excuse.split('\n')[0] ?? '').isVisible()).toBe(true);
    expect(await page.evaluate(() => [document.activeElement?.nodeName, scrollY])).toEqual(['SUMMARY', 120]);
    await page
      .locator('#said')
      .getByText('Deliveries: Delivered', { exact: true })
      .waitFor({ state: 'attached' });
    expect(await page.getByText('(in').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('says that the connection is lost, and goes on when it is back', async () => {
    const { context, page } = await visit();
    const key = await newKey();
    await signIn(page, key);
    await page.getByText('Updating live').waitFor();
    await context.setOffline(true);
    await page.getByText('No connection, trying again').waitFor();
    await context.setOffline(false);
    await page.getByText('Updating live').waitFor();
  });

  it('leads to the sign-in by itself when the key is revoked', async () => {
    const { context, page } = await visit();
    const key = await newKey();
    await signIn(page, key);
    await provider.ostiary.admin.apiKeys.revoke(key.id);
    await page.getByText('You were signed out').waitFor();
    await page.getByLabel('Test API key').waitFor();
    expect(await context.cookies()).toEqual([]);
  });

  it('what is new comes in at the top, what was removed goes, and the focus and what was chosen stay', async () => {
    const { page } = await visit();
    const key = await newKey();
    const trigger = async (type: string) =>
      expect((await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type })).status).toBe(201);
    const first = await newEndpoint(key, '/first');
    await trigger('webhook.test');
    await signIn(page, key);
    const typed = page.getByLabel('Type', { exact: true });
    await typed.selectOption('payment.failed');
    await page.getByRole('link', { name: 'webhook.test' }).focus();
    for (const type of ['kyc.updated', 'payment.completed']) {
      await trigger(type);
      await page.getByRole('link', { name: type }).waitFor();
    }
    await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${first}`);
    await page.getByRole('link', { name: '/first' }).waitFor({ state: 'detached' });
    const shown = await page.locator('#event-list .what a').allTextContents();
    const types = ['payment.completed', 'kyc.updated', 'webhook.test'];
    expect(shown.map((words) => words.split(' ')[0])).toEqual(types);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('webhook.test');
    expect(await typed.inputValue()).toBe('payment.failed');
  });
});
