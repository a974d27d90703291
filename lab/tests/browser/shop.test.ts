import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../../examples/demo/src/demo.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { scrollsSideways, violations } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { freePort } from '../../support/free-port.ts';

describe('the demo shop, in the language of the browser', () => {
  let demo: Demo;
  let browser: Browser;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ostiary-shop-'));
    const [PORT, PARTNER_PORT] = [String(await freePort()), String(await freePort())];
    [demo, browser] = await Promise.all([
      startDemo({ OSTIARY_DATA_DIR: dataDir, PORT, PARTNER_PORT }),
      launchBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await demo.close();
    await rm(dataDir, { recursive: true });
  });

  it.each([
    ['en', 360, 'light', 'This is everything that Ostiary'],
    ['fr', 360, 'dark', 'Voici tout ce que Ostiary'],
    ['ht', 1280, 'light', 'Men tout sa Ostiary'],
    ['es', 360, 'light', 'Esto es todo lo que Ostiary'],
    ['pt', 1280, 'dark', 'Isto é tudo o que Ostiary'],
  ] as const)(
    'in %s at %i pixels, %s: every page on the way is in it',
    async (locale, width, scheme, told) => {
      const options = { locale, colorScheme: scheme, viewport: { width, height: 800 } };
      const { page } = await newProfile(browser, options);
      const look = async (name: string) => {
        expect(await page.locator('html').getAttribute('lang')).toBe(locale);
        expect(await violations(page)).toEqual([]);
        expect(await scrollsSideways(page)).toBe(false);
        const { SHOTS } = process.env;
        if (SHOTS !== undefined)
          await page.screenshot({ path: join(SHOTS, `${name}-${locale}-${width}.png`), fullPage: true });
      };
      await page.goto(demo.partnerUrl);
      await look('shop');
      await page.locator('button[value=confidential]').click();
      const [{ handle, password } = { handle: '', password: '' }] = demo.file.users;
      await page.locator('#handle').fill(handle);
      await page.locator('#password').fill(password);
      await page.keyboard.press('Enter');
      await page.locator('button[value=approve]').waitFor();
      await look('consent');
      await page.locator('button[value=approve]').click();
      await page.getByText(told, { exact: false }).first().waitFor();
      await page.locator('.cashback button').first().click();
      await page.locator('.transfer').waitFor();
      await look('partner');
      await page.goto(`${demo.partnerUrl}/nothing`);
      await look('nothing');
    },
  );
});
