import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../lab/support/browser/browser.ts';
import { lookSmallAndWide, pressUntil } from '../../../lab/support/browser/page-checks.ts';
import { newProfile } from '../../../lab/support/browser/profile.ts';
import { consoleKit } from './console-kit.ts';

const shown = /whsec_[0-9a-f]{64}/;

describe('the pages of an endpoint, in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /** Opens the page of an endpoint in a real browser in which the endpoint's partner is signed in. */
  async function opened(options: BrowserContextOptions = {}) {
    const kit = await consoleKit();
    const key = await kit.key();
    const id = await kit.endpoint(key);
    const { page, context, complaints } = await newProfile(browser, { reducedMotion: 'reduce', ...options });
    const { origin } = kit.provider;
    await page.goto(`${origin}/sandbox`);
    await page.getByLabel('Test API key').fill(key.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    const url = `${origin}/sandbox/endpoints/${id}`;
    await page.goto(url);
    return { kit, key, id, page, context, complaints, url };
  }

  const endpointsOf = async ({ kit, key }: Awaited<ReturnType<typeof opened>>) =>
    kit.storage.webhooks.list({ partner: key.partner, mode: 'test' });

  /**
   * Returns what a screen reader says for the focused field. Waits, because the field may get the focus a
   * moment after the page has loaded.
   */
  async function focused(page: Page) {
    await page.locator(':focus').waitFor();
    return page.evaluate(() => {
      const { activeElement } = document;
      const ids = activeElement?.getAttribute('aria-describedby')?.split(' ') ?? [];
      return {
        id: activeElement?.id,
        told: ids.map((id) => document.getElementById(id)?.textContent).join(' '),
      };
    });
  }

  it('an endpoint can be removed with the keyboard alone, after a confirmation', async () => {
    const visit = await opened();
    const { page } = visit;
    await pressUntil(page, 'Tab', /^Remove this endpoint$/);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).not.toContain('Remove for good');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('It cannot be brought back').waitFor();
    expect(await endpointsOf(visit)).toHaveLength(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByText('The endpoint is removed').waitFor();
    expect(await endpointsOf(visit)).toEqual([]);
  });

  it('a generated secret is copied with a button, and disappears when the user goes back', async () => {
    const { page, context, complaints, url } = await opened({
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('link', { name: 'Replace the secret' }).click();
    await pressUntil(page, 'Tab', /^Generate a secret$/);
    await page.keyboard.press('Enter');
    const secret = (await page.locator('code', { hasText: shown }).textContent()) ?? '';
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').first().waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    expect(
      await page.evaluate(() => JSON.stringify([location.href, document.title, { ...localStorage }])),
    ).not.toContain(secret);

    // The keyboard can copy even if the browser denies clipboard access.
    await context.clearPermissions();
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('denied'));
    });
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('The text is selected').first().waitFor();
    expect(await page.evaluate(() => String(getSelection()).trim())).toBe(secret);

    await page.getByRole('button', { name: 'Sign with it from now on' }).first().click();
    await page
      .getByText('The new secret signs every attempt that begins more than a second from now.')
      .waitFor();
    await page.goBack({ waitUntil: 'commit' }).catch(() => null);
    await expect.poll(() => page.content()).not.toContain(secret);
    await page.goto(`${url}/secret`);
    expect(await page.content()).not.toMatch(shown);
    expect(complaints).toEqual([]);
  });

  it('a secret disappears with its page, also from the back/forward cache of the browser', async () => {
    const { page } = await opened();
    await page.getByRole('link', { name: 'Replace the secret' }).click();
    await page.getByRole('button', { name: 'Generate a secret' }).click();
    await page.locator('code', { hasText: shown }).first().waitFor();
    const kept = await page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
      return document.documentElement.outerHTML;
    });
    expect(kept).not.toMatch(shown);
  });

  it('without scripts an endpoint can be registered twice after a confirmation, and there is no copy button', async () => {
    const visit = await opened({ javaScriptEnabled: false });
    const { kit, page } = visit;
    await page.goto(`${kit.provider.origin}/sandbox/endpoints`);
    await page.getByLabel('URL').fill('https://receiver.example/hook');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('Register it anyway').check();
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.locator('code', { hasText: shown }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    expect(await endpointsOf(visit)).toHaveLength(2);
  });

  it('are accessible in narrow and wide windows, and link to wrong fields', async () => {
    const { kit, key, page, url, complaints } = await opened();
    const second = await kit.endpoint(key, '/second');
    await lookSmallAndWide(page);
    await page.goto(`${url}/edit`);
    await lookSmallAndWide(page);
    await page.getByLabel('URL').fill('https://receiver.example/second');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await focused(page)).toMatchObject({ id: 'url', told: expect.stringContaining(second) });
    await lookSmallAndWide(page);
    await page.goto(`${url}/secret`);
    await lookSmallAndWide(page);
    await page.getByLabel('New secret').fill('                    ');
    await page.getByRole('button', { name: 'Sign with it from now on' }).click();
    await page.getByRole('alert').waitFor();
    expect(await focused(page)).toMatchObject({
      id: 'secret',
      told: expect.stringContaining('is empty or not set'),
    });
    await page.getByRole('button', { name: 'Generate a secret' }).click();
    await page.locator('code', { hasText: shown }).first().waitFor();
    await lookSmallAndWide(page);
    await page.goto(`${kit.provider.origin}/sandbox/endpoints`);
    await page.getByLabel('URL').fill('https://receiver.example/second');
    await page.getByLabel('All types of events').uncheck();
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByRole('alert').waitFor();
    await lookSmallAndWide(page);
    await page.getByRole('alert').getByRole('link', { name: 'Types of events' }).click();
    expect((await focused(page)).told).toContain('Choose at least one type.');
    await page.getByLabel('URL').fill('https://receiver.example/third');
    await page.getByLabel('All types of events').check();
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.locator('code', { hasText: shown }).first().waitFor();
    await lookSmallAndWide(page);
    await page.goto(`${kit.provider.origin}/sandbox/trigger?type=webhook.test`);
    await page.getByLabel('Data', { exact: true }).fill('{"message":1}');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').waitFor();
    expect(await focused(page)).toMatchObject({ id: 'data', told: expect.stringContaining('data.message') });
    await lookSmallAndWide(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Test API key').fill('svc_test_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await focused(page)).toMatchObject({ id: 'key', told: expect.stringContaining('not accepted') });
    await lookSmallAndWide(page);
    expect(complaints.filter((text) => !text.includes('status of 40'))).toEqual([]);
  });
});
