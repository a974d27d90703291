import { sandboxConsole } from '@ostiary/console';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { manyRequests, TestRail } from '../../../packages/core/test/support/partner-api.ts';
import type { TestKey, TestProvider } from '../../../packages/core/test/support/provider.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { signInWith } from './console-pages.ts';

describe('the stream of an open page of the sandbox console, in a real browser', () => {
  let provider: TestProvider;
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
    const partnerLimits = manyRequests;
    provider = await startProvider({ payments: new TestRail(), partnerLimits, console: sandboxConsole() });
    return () => browser.close();
  });

  const newKey = () => provider.key({ mode: 'test' });
  const visit = () => newProfile(browser);
  const signIn = (page: Page, { key }: TestKey) => signInWith(page, provider.origin, key);

  it('has one stream open while the page is visible, and none while it is hidden', async () => {
    const { page } = await visit();
    const key = await newKey();
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.resourceType()));
    const open = () => page.waitForRequest((request) => request.resourceType() === 'eventsource');
    const first = open();
    await signIn(page, key);
    const stream = await first;
    await page.getByText('Updating live').waitFor();
    const closed = page.waitForEvent('requestfailed', (request) => request === stream);
    asked.length = 0;
    const hide = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await hide(true);
    await closed;
    // A visitor who returns to the page sees the changes at once.
    await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type: 'kyc.updated' });
    expect(await page.getByRole('link', { name: 'kyc.updated' }).count()).toBe(0);
    expect(asked).toEqual([]);
    await hide(false);
    await page.getByRole('link', { name: 'kyc.updated' }).waitFor();
    expect(asked).toEqual(['eventsource']);
  });

  it('opens another stream when one ends, without an announcement, and waits longer after each failure', async () => {
    const { page } = await visit();
    const key = await newKey();
    const states: (string | undefined)[] = [];
    const answers: (number | null)[] = [];
    let places = 2;
    await page.route('**/sandbox', (route) => {
      if (route.request().resourceType() !== 'eventsource') return route.continue();
      places -= 1;
      const message = 'event: still\ndata: \n\n';
      answers.push(places >= 0 ? 200 : 429);
      return places >= 0
        ? route.fulfill({ status: 200, contentType: 'text/event-stream', body: message })
        : route.fulfill({ status: 429, body: '' });
    });
    await page.clock.install();
    await signIn(page, key);
    const state = () => page.evaluate(() => document.getElementById('pulse')?.dataset.state);
    const until = async (count: number) => {
      await expect.poll(() => answers.length, { timeout: 20_000 }).toBe(count);
    };
    await until(1);
    await page.clock.runFor(1_500);
    await until(2);
    states.push(await state());
    await page.clock.runFor(1_500);
    await until(3);
    await page.getByText('No connection, trying again').waitFor();
    await page.clock.runFor(3_000);
    await until(4);
    await page.clock.runFor(1_900);
    expect([states, answers]).toEqual([['live'], [200, 200, 429, 429]]);
    expect((await page.content()).includes('id="event-list"')).toBe(true);
    places = 1;
    await page.clock.runFor(4_100);
    await until(5);
    await page.getByText('Updating live').waitFor();
  });

  it('takes a connection on which nothing comes for lost', async () => {
    const { page } = await visit();
    const key = await newKey();
    await page.clock.install();
    let streams = 0;
    // Let the stream's request hang without a response.
    await page.route('**/sandbox', (route) => {
      if (route.request().resourceType() !== 'eventsource') return route.continue();
      streams += 1;
    });
    await signIn(page, key);
    await expect.poll(() => streams, { timeout: 20_000 }).toBe(1);
    await page.clock.runFor(39_000);
    expect(streams).toBe(1);
    await page.clock.runFor(2_500);
    await expect.poll(() => streams, { timeout: 20_000 }).toBe(2);
  });
});
