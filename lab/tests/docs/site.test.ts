import { createTestOstiary } from '@ostiary/testing';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../../packages/core/test/support/running.ts';
import { addressOf, pages } from '../../../site/src/repository.ts';
import { startSite } from '../../../site/src/server.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { scrollsSideways, violations } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { questions } from './support/questions.ts';

/** A page of each kind. */
const kinds = ['/', '/quickstart-embed', '/webhooks', '/reference/options'];

// Runs only in the workflow that publishes the site, and with `npm run site:test`.
describe.runIf(process.env.TEST_SITE !== undefined)('the documentation site, in a real browser', () => {
  let browser: Browser;
  let site: string;
  beforeAll(async () => {
    site = await startSite({ port: 0 });
    browser = await launchBrowser();
    return () => browser.close();
  }, 300_000);

  const open = async (page: Page, address: string): Promise<void> => {
    await page.goto(`${site}${address}`);
    await page.locator('.VPContent, .VPPage').first().waitFor();
  };

  it('shows every page on a phone and on a desktop, whole, without an error and without another host', async () => {
    const addresses = [...pages.keys()].map(addressOf);
    expect(addresses.length).toBeGreaterThan(40);
    const { page, asked, complaints } = await newProfile(browser);
    const problems: string[] = [];
    for (const address of addresses) {
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 });
        if (width === 1280) await open(page, address);
        if (await scrollsSideways(page)) problems.push(`${address} is wider than ${width} pixels`);
      }
      expect(await page.locator('h1').first().textContent(), address).not.toBe('404');
    }
    expect(problems).toEqual([]);
    expect(complaints).toEqual([]);
    expect([...asked]).toEqual([site]);
  }, 180_000);

  it.each(['light', 'dark'] as const)(
    'has pages that axe finds nothing wrong with: %s',
    async (colorScheme) => {
      const { page } = await newProfile(browser, { colorScheme });
      const problems: string[] = [];
      for (const address of kinds) {
        await open(page, address);
        problems.push(...(await violations(page)));
      }
      expect(problems).toEqual([]);
    },
    120_000,
  );

  it('answers the questions that are asked most with the first result of its search', async () => {
    const { page } = await newProfile(browser);
    await open(page, '/concepts');
    await page.locator('#local-search button').click();
    const field = page.locator('.VPLocalSearchBox input');
    const results = page.locator('.VPLocalSearchBox .result');
    const wrong: string[] = [];
    for (const [question, expected] of questions) {
      await field.fill('');
      await expect.poll(() => results.count()).toBe(0);
      await field.fill(question);
      await results.first().waitFor();
      const address = new URL((await results.first().getAttribute('href')) ?? '', site).pathname;
      if (address !== addressOf(expected)) wrong.push(`${question} ${expected}, not ${address}`);
    }
    expect(questions).toHaveLength(32);
    // At most two of 32 questions may have a wrong first result; the message lists them.
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(2);
  }, 120_000);

  it('lets a reader try the partner API on a service of their own', async () => {
    const kit = await createTestOstiary();
    const service = await serve(kit.ostiary.handler);
    const origin = await startSite({ port: 0, service });
    const { page } = await newProfile(browser);
    await page.goto(`${origin}/reference/openapi`);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.modal-ux input').fill(kit.keys.test.key);
    await page.locator('.modal-ux button[type=submit]').click();
    await page.locator('.modal-ux button.close-modal').first().click();
    const whoami = page.locator('.opblock', { hasText: '/v1/partner/whoami' });
    await whoami.locator('.opblock-summary-control').click();
    await whoami.getByRole('button', { name: 'Try it out' }).click();
    await whoami.getByRole('button', { name: 'Execute' }).click();
    const answer = whoami.locator('.live-responses-table .response');
    await answer.waitFor();
    expect(await answer.textContent()).toMatch(/^200[\s\S]*"mode": "test"/);
    await kit.close();
  }, 60_000);

  it('leads from each page to its source, and has the TypeScript reference beside it', async () => {
    const { page } = await newProfile(browser);
    await open(page, '/packages/client-sdk');
    const edit = page.getByRole('link', { name: 'Edit this page' });
    expect(await edit.getAttribute('href')).toMatch(/\/edit\/main\/packages\/client-sdk\/README\.md$/);
    await page.goto(`${site}/typescript/index.html`);
    await page.getByRole('link', { name: '@ostiary/core', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Module @ostiary/core' }).waitFor();
  });
});
