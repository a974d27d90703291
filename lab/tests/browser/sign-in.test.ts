import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../../examples/demo/src/demo.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { freePort } from '../../support/free-port.ts';

const images = resolve(import.meta.dirname, '../../../docs/images');

/** Keeps the picture for the README when `npm run screenshots` asks for it. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env.TEST_SCREENSHOTS === undefined) return;
  await page.screenshot({ path: join(images, `${name}.png`), fullPage: true });
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const result = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return result.violations.map(({ id, nodes }) => `${page.url()}: ${id}: ${nodes[0]?.html}`);
}

const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

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

  /** A new browser profile, and every address it has asked for. */
  async function visit(
    options: BrowserContextOptions = {},
  ): Promise<{ context: BrowserContext; page: Page; asked: Set<string> }> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(40_000);
    const page = await context.newPage();
    const asked = new Set<string>();
    page.on('request', (request) =>
      asked.add(new URL(request.url()).protocol === 'data:' ? 'data:' : new URL(request.url()).origin),
    );
    return { context, page, asked };
  }

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

  async function signInAtHost(page: Page, index = 0): Promise<void> {
    const { handle, password } = userOf(index);
    await page.getByLabel(/handle/i).fill(handle);
    await page.getByLabel(/password/i).fill(password);
    await page.getByRole('button', { name: /sign in/i }).click();
  }

  const shown = async (page: Page): Promise<Record<string, unknown>> =>
    JSON.parse((await page.locator('#userinfo').textContent()) ?? '{}') as Record<string, unknown>;

  it.each([360, 1280])(
    'at %i pixels: sign in, consent, the right fields; nothing off-origin, nothing inaccessible',
    async (width) => {
      const { context, page, asked } = await visit({ viewport: { width, height: 800 } });
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
      expect(await shown(page)).toMatchObject({
        sub: userOf(0).sub,
        kid: userOf(0).kid,
        kycStatus: 'approved',
      });
      expect(Object.keys(await shown(page)).sort()).toEqual(
        [
          'sub',
          'kid',
          'role',
          'country',
          'createdAt',
          'name',
          'handle',
          'avatarUrl',
          'kycTier',
          'kycStatus',
        ].sort(),
      );
      await page.goto(`${demo.file.authUrl}/account/apps`);
      await look('apps');
      await page.goto(demo.file.authUrl);
      await look(null);
      expect(problems).toEqual([]);
      asked.delete('data:');
      expect([...asked].sort()).toEqual([demo.file.authUrl, demo.partnerUrl].sort());
      await context.close();
    },
  );

  it('denied: the shop learns so and receives nothing', async () => {
    const { context, page } = await visit();
    await choose(page, ['openid']);
    await page.getByRole('button', { name: 'Sign in with Ostiary' }).click();
    await signInAtHost(page, 1);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.waitForURL(`${demo.partnerUrl}/**`);
    expect(await page.getByText('access_denied').count()).toBeGreaterThan(0);
    expect(await page.locator('#userinfo').count()).toBe(0);
    await context.close();
  });

  it('removed under connected apps: the token dies', async () => {
    const { context, page } = await visit();
    await choose(page, ['openid']);
    await page.getByRole('button', { name: 'Sign in with Ostiary' }).click();
    await signInAtHost(page);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('#userinfo').waitFor({ state: 'attached' });
    const shop = page.url();
    await page.goto(`${demo.file.authUrl}/account/apps`);
    await page
      .getByRole('button', { name: /Remove access/ })
      .first()
      .click();
    await page.getByRole('status').waitFor();
    await page.goto(shop);
    await page.getByRole('button', { name: 'Read the identity again' }).click();
    expect(await page.getByText(/invalid_token/).count()).toBeGreaterThan(0);
    await context.close();
  });

  it('with the keyboard alone', async () => {
    const { context, page } = await visit();
    const pressUntil = async (name: RegExp): Promise<void> => {
      for (let presses = 0; presses < 40; presses += 1) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
        if (name.test(focused)) return;
      }
      throw new Error(`${name} is out of the keyboard's reach`);
    };
    await page.goto(demo.partnerUrl);
    await pressUntil(/^Sign in with Ostiary$/);
    await page.keyboard.press('Enter');
    await page.getByLabel(/handle/i).waitFor();
    const { handle, password } = userOf(2);
    await page.getByLabel(/handle/i).focus();
    await page.keyboard.type(handle);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await pressUntil(/^Allow$/);
    await page.keyboard.press('Enter');
    await page.locator('#userinfo').waitFor({ state: 'attached' });
    expect(await shown(page)).toMatchObject({ sub: userOf(2).sub });
    await context.close();
  });

  it('with JavaScript off', async () => {
    const { context, page } = await visit({ javaScriptEnabled: false });
    await choose(page, ['openid', 'wallet:balance']);
    await page.getByRole('button', { name: /public client/ }).click();
    await signInAtHost(page);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('#userinfo').waitFor({ state: 'attached' });
    expect(await shown(page)).toMatchObject({
      sub: userOf(0).sub,
      htgBalance: expect.stringMatching(/^\d+\.\d\d$/),
    });
    await context.close();
  });

  it('in French for who prefers it', async () => {
    const { context, page } = await visit({ locale: 'fr-HT' });
    await choose(page, ['openid']);
    await page.getByRole('button', { name: 'Sign in with Ostiary' }).click();
    expect(await page.locator('html').getAttribute('lang')).toBe('fr');
    await page.getByLabel('Pseudonyme').fill(userOf(0).handle);
    await page.getByLabel('Mot de passe').fill(userOf(0).password);
    await page.keyboard.press('Enter');
    await page.getByText('Savoir qui vous êtes').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('fr');
    await context.close();
  });

  it('after A signed out and B signed in at the host, the next authorization is for B', async () => {
    const { context, page } = await visit();
    await page.goto(`${demo.file.authUrl}/login`);
    await signInAtHost(page, 0);
    await choose(page, ['openid']);
    await page.getByRole('button', { name: 'Sign in with Ostiary' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('#userinfo').waitFor({ state: 'attached' });
    expect(await shown(page)).toMatchObject({ sub: userOf(0).sub });

    await page.getByRole('button', { name: 'Sign out of the shop' }).click();
    await page.goto(demo.file.authUrl);
    await page.getByRole('button', { name: /sign out/i }).click();
    await page.goto(`${demo.file.authUrl}/login`);
    await signInAtHost(page, 1);
    await choose(page, ['openid']);
    await page.getByRole('button', { name: 'Sign in with Ostiary' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('#userinfo').waitFor({ state: 'attached' });
    expect(await shown(page)).toMatchObject({ sub: userOf(1).sub });
    await context.close();
  });
});
