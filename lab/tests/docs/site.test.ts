import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestOstiary } from '@ostiary/testing';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../../packages/core/test/support/running.ts';
import { addressOf, pages, root } from '../../../site/src/repository.ts';
import { startSite } from '../../../site/src/server.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { scrollsSideways, violations } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { newcomersQuestions } from './support/newcomers-questions.ts';
import { questions } from './support/questions.ts';

/** One page of each kind in the documentation site. */
const kinds = [
  '/',
  '/docs',
  '/quickstart-embed',
  '/quickstart-operate',
  '/quickstart-receiver',
  '/key-rotation',
  '/mounting',
  '/webhook-verifier',
  '/reference/options',
];

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
    await page.locator('.VPContent h1').first().waitFor();
  };

  it('shows every page on a phone and on a desktop, whole, without an error and without another host', async () => {
    const addresses = [...pages.keys()].map(addressOf);
    expect(addresses.length).toBeGreaterThan(40);
    const { page, asked, complaints } = await newProfile(browser);
    const problems: string[] = [];
    for (const address of addresses) {
      for (const width of [1280, 390, 360]) {
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

  it.each([
    ['that are asked most', questions, 2],
    ['of newcomers', newcomersQuestions, 0],
  ] as const)(
    'answers the questions %s with the first result of its search',
    async (_kind, asked, allowed) => {
      const { page } = await newProfile(browser);
      await open(page, '/concepts');
      await page.locator('#local-search button').click();
      const field = page.locator('.VPLocalSearchBox input');
      const results = page.locator('.VPLocalSearchBox .result');
      const wrong: string[] = [];
      for (const [question, expected] of asked) {
        await field.fill('');
        await expect.poll(() => results.count()).toBe(0);
        await field.fill(question);
        await results.first().waitFor();
        const address = new URL((await results.first().getAttribute('href')) ?? '', site).pathname;
        if (address !== addressOf(expected)) wrong.push(`${question} ${expected}, not ${address}`);
      }
      expect(asked.length).toBeGreaterThanOrEqual(30);
      // The message lists the questions with a wrong first result.
      expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(allowed);
    },
    120_000,
  );

  it('lets a reader try the partner API on a service of their own', async () => {
    const kit = await createTestOstiary();
    const service = await serve(kit.ostiary.handler);
    const origin = await startSite({ port: 0, service });
    const { page } = await newProfile(browser);
    await page.goto(`${origin}/reference/partner-endpoints`);
    const filled = page.locator('.try', { hasText: 'Try createSandboxPassport' });
    await filled.locator('summary').click();
    await filled.getByLabel('Test key').fill(kit.keys.test.key);
    await filled.getByRole('button', { name: 'Send POST' }).click();
    await filled.getByText(/^201[\s\S]*"kid":"KID-TEST-APPROVED"/).waitFor();
    // The key serves every operation, and nothing keeps it.
    const whoami = page.locator('.try', { hasText: 'Try whoami' });
    await whoami.locator('summary').click();
    await whoami.getByRole('button', { name: 'Send GET' }).click();
    await whoami.getByText(/^200[\s\S]*"mode":"test"/).waitFor();
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
      kit.keys.test.key,
    );
    await kit.close();
  }, 60_000);

  it('shows the code of five frameworks in tabs, by keyboard and without script', async () => {
    const frameworks = ['Node', 'Express', 'Fastify', 'Hono', 'Next.js'];
    const marks = ['createServer(', "from 'express'", "from 'fastify'", "from 'hono'", 'route.ts'];
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await newProfile(browser, { javaScriptEnabled });
      await open(page, '/');
      const tabs = page.locator('.landing .tabs');
      expect(await tabs.locator('label').allTextContents()).toEqual(frameworks);
      await tabs.locator('input').first().focus();
      for (const mark of marks) {
        const shown = page.locator('.landing .blocks > div:visible');
        expect(await shown.count()).toBe(1);
        expect(await shown.textContent()).toContain(mark);
        await page.keyboard.press('ArrowRight');
      }
      await tabs.getByText('Hono').click();
      expect(await page.locator('.landing .blocks > div:visible').textContent()).toContain("from 'hono'");
    }
  }, 60_000);

  it('claims on its landing page what the proof of payments does', async () => {
    const proof = readFileSync(join(root, 'lab/proofs/money/main.ts'), 'utf8');
    const [, payments = '', kills = ''] = /payments: ([\d_]+),\s+kills: (\d+)/.exec(proof) ?? [];
    const { page } = await newProfile(browser);
    await open(page, '/');
    expect(await page.locator('.proofs').textContent()).toContain(
      `killing the server ${kills} times during ${payments.replace('_', ',')} payments`,
    );
    const doors = page.locator('.doors a');
    const targets = await doors.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(targets).toEqual(['./quickstart-embed', './quickstart-partner', './quickstart-receiver']);
  }, 30_000);

  it('has a sidebar with the group of the page open, and every group open without script', async () => {
    const { page } = await newProfile(browser);
    await open(page, '/webhooks');
    const groups = page.locator('.VPSidebarItem.level-0');
    const opened = page.locator('.VPSidebarItem.level-0:not(.collapsed)');
    expect(await groups.count()).toBeGreaterThan(5);
    await expect.poll(() => opened.locator('h2').allTextContents()).toEqual(['I receive webhooks']);
    const { page: without } = await newProfile(browser, { javaScriptEnabled: false });
    await open(without, '/webhooks');
    for (const group of await without.locator('.VPSidebarItem.level-0 > .items').all())
      expect(await group.isVisible()).toBe(true);
  }, 30_000);

  it('hands each page to an assistant as Markdown', async () => {
    const { page } = await newProfile(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
    await open(page, '/webhook-verifier');
    await page.getByRole('button', { name: 'Copy for your assistant' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const link = page.getByRole('link', { name: 'Markdown of this page' });
    const answer = await fetch(new URL((await link.getAttribute('href')) ?? '', site));
    expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(copied).toBe(await answer.text());
    expect(copied).toMatch(/^# Verify webhooks in JavaScript/);
    expect(copied).toContain("import { Hono } from 'hono';");
    expect(copied).not.toContain('<!--');
  }, 30_000);

  it('lists every page of its sidebar in llms.txt, with links that work', async () => {
    const list = await (await fetch(`${site}/llms.txt`)).text();
    const linksOf = (text: string): string[] =>
      Array.from(text.matchAll(/\]\((\/[^)#]*\.md)/g), ([, link = '']) => link);
    const links = linksOf(list);
    expect(links.length).toBeGreaterThan(40);
    for (const link of new Set(links)) {
      const answer = await fetch(`${site}${link}`);
      expect(answer.status, link).toBe(200);
      for (const further of new Set(linksOf(await answer.text())))
        expect((await fetch(`${site}${further}`)).status, `${link} to ${further}`).toBe(200);
    }
  }, 60_000);

  it.each(['light', 'dark'] as const)(
    'has a reference of the partner API that axe finds nothing wrong with, in every language and width: %s',
    async (colorScheme) => {
      const { page } = await newProfile(browser, { colorScheme });
      await open(page, '/reference/partner-endpoints#createpayment');
      for (const form of await page.locator('.try summary').all()) await form.click();
      await expect.poll(() => page.locator('.try form').count()).toBeGreaterThan(20);
      const problems: string[] = [];
      for (const [language, width] of [
        ['Python', 1440],
        ['Node', 1440],
        ['curl', 390],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        const tabs = page.locator('#createpayment ~ .vp-code-group').first().locator('.tabs');
        await tabs.getByText(language, { exact: true }).click();
        problems.push(...(await violations(page)));
      }
      expect(problems).toEqual([]);
    },
    120_000,
  );

  it('shows the chosen language in the code of every operation, also after a reload, and each of them without script', async () => {
    const { page } = await newProfile(browser);
    await open(page, '/reference/partner-endpoints#getpayment');
    const operations = page.locator('.vp-code-group');
    const shown = page.locator('.vp-code-group .blocks > div:visible');
    const count = await operations.count();
    expect(count).toBeGreaterThan(20);
    const own = page.locator('#getpayment ~ .vp-code-group').first();
    expect(await own.locator('.blocks > div:visible').textContent()).toContain('curl --globoff');
    const before = (await own.boundingBox())?.y ?? 0;
    await own.locator('.tabs').getByText('Python').click();
    for (const reloaded of [false, true]) {
      if (reloaded) await page.reload();
      const inPython = shown.filter({ hasText: 'urllib.request' });
      await expect.poll(() => inPython.count()).toBe(count);
      expect(await shown.count()).toBe(count);
      // The code stays where the reader clicked, though code above it has become longer.
      if (!reloaded) expect(Math.abs(((await own.boundingBox())?.y ?? 0) - before)).toBeLessThan(40);
    }
    const { page: without } = await newProfile(browser, { javaScriptEnabled: false });
    await open(without, '/reference/partner-endpoints');
    const first = without.locator('.vp-code-group').first();
    for (const [language, mark] of [
      ['Python', 'urllib.request'],
      ['Node', 'OstiaryPartner'],
      ['curl', 'curl --globoff'],
    ] as const) {
      await first.locator('.tabs').getByText(language).click();
      expect(await first.locator('.blocks > div:visible').textContent()).toContain(mark);
    }
  }, 60_000);

  it('finds an operation by its name, and hands the reference to an assistant', async () => {
    const { page } = await newProfile(browser);
    await open(page, '/concepts');
    await page.locator('#local-search button').click();
    await page.locator('.VPLocalSearchBox input').fill('recoverWebhook');
    const results = page.locator('.VPLocalSearchBox .result');
    await results.first().waitFor();
    expect(await results.first().getAttribute('href')).toBe('/reference/partner-endpoints#recoverwebhook');
    const list = await (await fetch(`${site}/llms.txt`)).text();
    expect(list).toContain('[API reference](/reference/partner-endpoints.md)');
    const markdown = await (await fetch(`${site}/reference/partner-endpoints.md`)).text();
    expect(markdown).toContain('### recoverWebhook\n\n`POST /v1/partner/webhooks/{id}/recover`');
    expect(markdown).toContain('ostiary.webhooks.recover("we_');
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
