import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../../examples/demo/src/demo.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { picture, pressUntil, scrollsSideways, violations } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { freePort } from '../../support/free-port.ts';

// What else happens on the way, and that it needs no script, is shown by the tests of the two servers, without a browser.
describe('signing in to the demo partner app, in a real browser', () => {
  let demo: Demo;
  let browser: Browser;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ostiary-e2e-'));
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

  const userOf = (index: number) => {
    const user = demo.file.users[index];
    if (user === undefined) throw new Error('the demo has too few users');
    return user;
  };

  async function choose(page: Page, scopes: readonly string[]): Promise<void> {
    await page.goto(demo.partnerUrl);
    for (const box of await page.getByRole('checkbox').all()) {
      await box.setChecked(scopes.includes((await box.getAttribute('value')) ?? ''));
    }
  }

  async function signInAtHost(page: Page): Promise<void> {
    const { handle, password } = userOf(0);
    await page.locator('input[name=handle]').fill(handle);
    await page.locator('input[name=password]').fill(password);
    await page.keyboard.press('Enter');
  }

  const shown = async (page: Page): Promise<Record<string, unknown>> =>
    JSON.parse((await page.locator('#userinfo').textContent()) ?? '{}') as Record<string, unknown>;

  it.each([360, 1280])(
    'at %i pixels: sign in, consent, the right fields; nothing off-origin, nothing inaccessible',
    async (width) => {
      const { page, asked } = await newProfile(browser, { viewport: { width, height: 800 } });
      const problems: string[] = [];
      const look = async (name: string | null) => {
        problems.push(...(await violations(page)));
        expect(await scrollsSideways(page)).toBe(false);
        if (name !== null) await picture(page, `${name}-${width}`);
      };
      await choose(page, ['openid', 'profile', 'kyc']);
      await look('shop');
      await page.getByRole('button', { name: 'Sign in with Ostiary' }).click();
      await look('login');
      await signInAtHost(page);
      await page.getByRole('heading', { name: /asks for access/ }).waitFor();
      for (const title of ['Know who you are', 'See your profile', 'See your identity check']) {
        await expect(page.getByText(title).count()).resolves.toBe(1);
      }
      expect(await page.getByText('See your balances').count()).toBe(0);
      await look('consent');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByText('everything that Ostiary told the shop').waitFor();
      await look('partner');
      const { sub, kid } = userOf(0);
      const told = await shown(page);
      expect(told).toMatchObject({ sub, kid, kycStatus: 'approved' });
      const fields = 'avatarUrl country createdAt handle kid kycStatus kycTier name role sub';
      expect(Object.keys(told).sort()).toEqual(fields.split(' '));
      await page.goto(`${demo.file.authUrl}/account/apps`);
      await look('apps');
      await page.goto(demo.file.authUrl);
      await look(null);
      expect(problems).toEqual([]);
      expect([...asked].sort()).toEqual([demo.file.authUrl, demo.partnerUrl].sort());
    },
  );

  it('with the keyboard alone', async () => {
    const { page } = await newProfile(browser);
    await page.goto(demo.partnerUrl);
    await pressUntil(page, 'Tab', /^Sign in with Ostiary$/);
    await page.keyboard.press('Enter');
    await page.getByLabel(/handle/i).waitFor();
    const { handle, password, sub } = userOf(2);
    await page.getByLabel(/handle/i).focus();
    await page.keyboard.type(handle);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await pressUntil(page, 'Tab', /^Allow$/);
    await page.keyboard.press('Enter');
    await page.locator('#userinfo').waitFor({ state: 'attached' });
    expect(await shown(page)).toMatchObject({ sub });
  });
});
