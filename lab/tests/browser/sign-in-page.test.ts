import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../../examples/demo/src/demo.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { pressUntil, scrollsSideways, violations } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { freePort } from '../../support/free-port.ts';

/** What the page says: its heading, that it shows the password, and the way back. */
const words = {
  en: ['Sign in', 'Show password', 'Back to Kafe Lakay'],
  fr: ['Se connecter', 'Afficher le mot de passe', 'Retour à Kafe Lakay'],
  ht: ['Konekte', 'Montre modpas la', 'Retounen sou Kafe Lakay'],
  es: ['Iniciar sesión', 'Mostrar la contraseña', 'Volver a Kafe Lakay'],
  pt: ['Entrar', 'Mostrar a senha', 'Voltar para Kafe Lakay'],
} as const;

describe('the sign-in page of the reference server, in a real browser', () => {
  let demo: Demo;
  let browser: Browser;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ostiary-login-'));
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

  async function open(options: BrowserContextOptions = {}) {
    const profile = await newProfile(browser, options);
    await profile.page.goto(demo.partnerUrl);
    await profile.page.locator('button[value=confidential]').click();
    await profile.page.locator('#password').waitFor();
    return profile;
  }

  const isShown = (page: Page) =>
    page.locator('#password').evaluate((input) => (input as HTMLInputElement).type === 'text');

  const tabTo = (page: Page, name: string) => pressUntil(page, 'Tab', new RegExp(`^${name}$`));

  // Colours are the same in every language; where there is little room, words may be too long.
  it.each(Object.entries(words))('in %s, narrow, and in English wide and dark too', async (locale, texts) => {
    const all = locale === 'en';
    for (const width of all ? [360, 1280] : [360]) {
      for (const colorScheme of all ? (['light', 'dark'] as const) : (['light'] as const)) {
        const { page, complaints } = await open({ locale, colorScheme, viewport: { width, height: 800 } });
        const [title, reveal, back] = texts;
        expect(await page.locator('html').getAttribute('lang')).toBe(locale);
        expect(await page.getByRole('heading').allTextContents()).toEqual([title]);
        const button = page.getByRole('button', { name: reveal, exact: true });
        expect(await button.getAttribute('aria-pressed')).toBe('false');
        await button.click();
        expect([await button.getAttribute('aria-pressed'), await isShown(page)]).toEqual(['true', true]);
        expect(await violations(page)).toEqual([]);
        expect(await scrollsSideways(page)).toBe(false);
        const { SHOTS } = process.env;
        if (SHOTS !== undefined)
          await page.screenshot({ path: join(SHOTS, `login-${locale}-${width}-${colorScheme}.png`) });
        expect(complaints).toEqual([]);
        await page.getByRole('link', { name: back, exact: true }).click();
        await page.getByText('access_denied', { exact: true }).waitFor();
        expect(new URL(page.url()).origin).toBe(demo.partnerUrl);
      }
    }
  });

  it('with the keyboard alone: shows the password, hides it before it is sent, and signs in', async () => {
    const { page } = await open();
    const [{ handle, password } = { handle: '', password: '' }] = demo.file.users;
    // The first field has the focus.
    await page.keyboard.type(handle);
    await tabTo(page, 'Password');
    await page.keyboard.type(password);
    await tabTo(page, 'Show');
    await page.keyboard.press('Space');
    expect(await isShown(page)).toBe(true);
    await page.keyboard.press('Space');
    expect(await isShown(page)).toBe(false);
    await page.keyboard.press('Space');
    await page.evaluate(() => {
      addEventListener('submit', (event) => {
        event.preventDefault();
        const { type } = document.querySelector<HTMLInputElement>('#password') ?? {};
        document.title = `sent as ${type}`;
      });
    });
    await tabTo(page, 'Sign in');
    await page.keyboard.press('Enter');
    expect(await page.title()).toBe('sent as password');
    await page.reload();
    await page.keyboard.type(handle);
    await tabTo(page, 'Password');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  });

  it('with the keyboard alone: back to the app', async () => {
    const { page } = await open();
    await tabTo(page, 'Back to Kafe Lakay');
    await page.keyboard.press('Enter');
    await page.getByText('access_denied', { exact: true }).waitFor();
  });

  it('without JavaScript: no button that does nothing, and all the rest', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    expect(await page.locator('#reveal').isVisible()).toBe(false);
    const [{ handle, password } = { handle: '', password: '' }] = demo.file.users;
    await page.locator('#handle').fill(handle);
    await page.locator('#password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.locator('#password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    const cancelled = await open({ javaScriptEnabled: false });
    await cancelled.page.getByRole('link', { name: 'Back to Kafe Lakay' }).click();
    await cancelled.page.getByText('access_denied', { exact: true }).waitFor();
  });
});
