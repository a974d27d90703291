import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { startDemoInBrowser } from '../../support/browser/demo.ts';
import { expectGood, picture, pressUntil } from '../../support/browser/page-checks.ts';

// Tests of the reference server and of the partner app cover the other steps without a browser.
const { demo, open, userAt } = await startDemoInBrowser();

/**
 * Expected texts in each language: the heading of the sign-in page, the button that shows the password, the
 * way back, and the shop's page with its data. If the last text is `null`, the test checks only the pages
 * before the sign-in; a test without a browser shows that no text is missing after the sign-in.
 */
const words = {
  en: ['Sign in', 'Show password', 'Back to Kafe Lakay', 'This is everything that Ostiary told the shop'],
  fr: ['Se connecter', 'Afficher le mot de passe', 'Retour à Kafe Lakay', 'Voici tout ce que Ostiary'],
  ht: ['Konekte', 'Montre modpas la', 'Retounen sou Kafe Lakay', null],
  es: ['Iniciar sesión', 'Mostrar la contraseña', 'Volver a Kafe Lakay', null],
  pt: ['Entrar', 'Mostrar a senha', 'Voltar para Kafe Lakay', null],
} as const;

async function chooseScopes(page: Page, scopes: readonly string[]): Promise<void> {
  for (const box of await page.getByRole('checkbox').all())
    await box.setChecked(scopes.includes((await box.getAttribute('value')) ?? ''));
}

async function toLogin(page: Page): Promise<void> {
  await page.locator('button[value=confidential]').click();
  await page.locator('#password').waitFor();
}

async function signIn(page: Page, { handle, password }: { handle: string; password: string }): Promise<void> {
  await page.locator('#handle').fill(handle);
  await page.locator('#password').fill(password);
  await page.keyboard.press('Enter');
}

const isPasswordShown = (page: Page) =>
  page.locator('#password').evaluate((input) => (input as HTMLInputElement).type === 'text');

const isRefused = (page: Page) => page.getByText('access_denied', { exact: true }).waitFor();

const told = async (page: Page): Promise<Record<string, unknown>> =>
  JSON.parse((await page.locator('#userinfo').textContent()) ?? '{}') as Record<string, unknown>;

it.each([
  ['en', 360, 'light'],
  ['en', 1280, 'light'],
  ['fr', 360, 'dark'],
  ['ht', 1280, 'light'],
  ['es', 360, 'light'],
  ['pt', 1280, 'dark'],
] as const)(
  'in %s at %i pixels, %s: every page is in it, right and accessible, and nothing is asked of others',
  async (locale, width, colorScheme) => {
    const [title, reveal, back, everything] = words[locale];
    const isEnglish = locale === 'en';
    const viewport = { width, height: 800 };
    const { page, asked, complaints } = await open({ locale, colorScheme, viewport });
    const look = async (name: string | null = null) => {
      expect(await page.locator('html').getAttribute('lang')).toBe(locale);
      await expectGood(page);
      if (isEnglish && name !== null) await picture(page, `${name}-${width}`);
    };

    await page.goto(demo.partnerUrl);
    if (isEnglish) await chooseScopes(page, ['openid', 'profile', 'kyc']);
    await look('shop');

    await toLogin(page);
    expect(await page.getByRole('heading').allTextContents()).toEqual([title]);
    if (isEnglish) await look('login');
    const button = page.getByRole('button', { name: reveal, exact: true });
    expect(await button.getAttribute('aria-pressed')).toBe('false');
    await button.click();
    expect([await button.getAttribute('aria-pressed'), await isPasswordShown(page)]).toEqual(['true', true]);
    // In other languages only the width is checked, since words may be too long for a narrow screen. Colours
    // are the same.
    if (isEnglish) await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    else await page.setViewportSize({ ...viewport, width: 360 });
    await look();
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    expect(complaints).toEqual([]);
    // The URL of the form also shows a page to a GET, for example after following a link.
    const login = page.url();
    await page.goto((await page.locator('form[action*="/cancel"]').getAttribute('action')) ?? '');
    await page.locator('form[action*="/cancel"] button').waitFor();
    await look();
    await page.goto(login);
    await page.getByRole('button', { name: back, exact: true }).click();
    await isRefused(page);
    expect(new URL(page.url()).origin).toBe(demo.partnerUrl);
    await page.goto(`${demo.partnerUrl}/nothing`);
    await look();
    expect([...asked].sort()).toEqual([demo.file.authUrl, demo.partnerUrl].sort());
    if (everything === null) return;

    await page.goto(demo.partnerUrl);
    if (isEnglish) await chooseScopes(page, ['openid', 'profile', 'kyc']);
    await toLogin(page);
    await signIn(page, userAt(0));
    await page.locator('button[value=approve]').waitFor();
    if (isEnglish) {
      for (const asksFor of ['Know who you are', 'See your profile', 'See your identity check'])
        expect(await page.getByText(asksFor).count()).toBe(1);
      expect(await page.getByText('See your balances').count()).toBe(0);
    }
    await look('consent');
    await page.locator('button[value=approve]').click();

    await page.getByText(everything).waitFor();
    const { sub, kid } = userAt(0);
    expect(await told(page)).toMatchObject({ sub, kid });
    if (isEnglish) {
      const fields = 'avatarUrl country createdAt handle kid kycStatus kycTier name role sub';
      expect(Object.keys(await told(page)).sort()).toEqual(fields.split(' '));
      expect(await told(page)).toMatchObject({ kycStatus: 'approved' });
      await picture(page, `partner-${width}`);
    }
    await page.locator('.cashback button').first().click();
    await page.locator('.transfer[data-status=completed]').waitFor();
    await look();

    if (isEnglish) {
      await page.goto(`${demo.file.authUrl}/account/apps`);
      await look('apps');
      await page.goto(demo.file.authUrl);
      await look();
    } else {
      await page.goto(`${demo.file.authUrl}/passport`);
      await page.locator('summary').click();
      await look();
    }
    expect([...asked].sort()).toEqual([demo.file.authUrl, demo.partnerUrl].sort());
  },
);

it('with the keyboard alone: back to the app, the password shown and hidden before it is sent, and signed in', async () => {
  const { page } = await open();
  const { handle, password, sub } = userAt(2);
  const tabTo = (name: string) => pressUntil(page, 'Tab', new RegExp(`^${name}$`));
  const begin = async () => {
    await page.goto(demo.partnerUrl);
    await tabTo('Sign in with Ostiary');
    await page.keyboard.press('Enter');
    await page.locator('#password').waitFor();
  };
  /**
   * Types handle and password with the keyboard alone. The browser focuses the form's first field a moment
   * after the page has loaded.
   */
  const fill = async () => {
    await page.locator('#handle:focus').waitFor();
    await page.keyboard.type(handle);
    await tabTo('Password');
    await page.keyboard.type(password);
    expect(await page.locator('#handle').inputValue()).toBe(handle);
  };

  await begin();
  await tabTo('Back to Kafe Lakay');
  await page.keyboard.press('Enter');
  await isRefused(page);

  await begin();
  await fill();
  await tabTo('Show');
  for (const isShown of [true, false, true]) {
    await page.keyboard.press('Space');
    expect(await isPasswordShown(page)).toBe(isShown);
  }
  await page.evaluate(() => {
    addEventListener('submit', (event) => {
      event.preventDefault();
      const { type } = document.querySelector<HTMLInputElement>('#password') ?? {};
      document.title = `sent as ${type}`;
    });
  });
  await tabTo('Sign in');
  await page.keyboard.press('Enter');
  expect(await page.title()).toBe('sent as password');

  await page.reload();
  await fill();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  await tabTo('Allow');
  await page.keyboard.press('Enter');
  await page.locator('#userinfo').waitFor({ state: 'attached' });
  expect(await told(page)).toMatchObject({ sub });
});

it('without JavaScript: no button that does nothing, and all the rest', async () => {
  const { page } = await open({ javaScriptEnabled: false });
  await page.goto(demo.partnerUrl);
  await toLogin(page);
  expect(await page.locator('#reveal').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Back to Kafe Lakay' }).click();
  await isRefused(page);

  await page.goto(demo.partnerUrl);
  await toLogin(page);
  await signIn(page, { ...userAt(0), password: 'wrong' });
  await page.getByRole('alert').waitFor();
  await page.locator('#password').fill(userAt(0).password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Allow' }).waitFor();
});

it('in a popup: the window and the app that opened it keep each other until the popup closes', async () => {
  const { page } = await open();
  await page.goto(demo.partnerUrl);
  const opened = page.waitForEvent('popup');
  await page.evaluate(() => {
    const popup = globalThis.open('about:blank', 'sign-in', 'popup');
    const form = document.querySelector<HTMLButtonElement>('button[value=confidential]')?.form;
    if (form) form.target = 'sign-in';
    Object.assign(globalThis, { isPopupClosed: () => popup?.closed });
  });
  const popup = await opened;
  const isClosed = () => page.evaluate<boolean>('isPopupClosed()');
  const expectTogether = async () => {
    expect(await popup.evaluate(() => globalThis.opener !== null)).toBe(true);
    expect(await isClosed()).toBe(false);
  };

  await page.locator('button[value=confidential]').click();
  await popup.locator('#password').waitFor();
  await expectTogether();
  await signIn(popup, { ...userAt(1), password: 'wrong' });
  await popup.getByRole('alert').waitFor();
  await expectTogether();
  await signIn(popup, userAt(1));
  await popup.getByRole('button', { name: 'Allow' }).waitFor();
  await expectTogether();
  await popup.getByRole('button', { name: 'Allow' }).click();
  await popup.locator('#userinfo').waitFor({ state: 'attached' });
  await expectTogether();
  await popup.goto(`${demo.file.authUrl}/nothing`);
  await expectTogether();
  await popup.close();
  await expect.poll(isClosed).toBe(true);
});
