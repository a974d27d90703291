import { OstiaryPartner } from '@ostiary/client-sdk';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startDemoInBrowser } from '../../../lab/support/browser/demo.ts';
import { expectGood } from '../../../lab/support/browser/page-checks.ts';

const { demo, open, userAt } = await startDemoInBrowser();

const small = { width: 360, height: 740 };
const large = { width: 1280, height: 800 };

/**
 * Combinations of window size and colour scheme in which a page is checked. Together, the two sets cover all
 * four combinations.
 */
const looks = {
  one: [
    [small, 'light'],
    [large, 'dark'],
  ],
  other: [
    [small, 'dark'],
    [large, 'light'],
  ],
} as const;

/** Checks that a page is readable and accessible in all combinations of the set `name`. */
async function expectLooks(page: Page, name: keyof typeof looks): Promise<void> {
  for (const [viewport, colorScheme] of looks[name]) {
    await page.setViewportSize(viewport);
    // Reduce motion, so that no colour is measured during a transition between the schemes.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expectGood(page);
  }
}

async function signIn(page: Page): Promise<void> {
  const { handle, password } = userAt(0);
  await page.locator('input[name=handle]').fill(handle);
  await page.locator('input[name=password]').fill(password);
  await page.locator('main button[type=submit]:not([form])').click();
}

async function openPassport(page: Page): Promise<void> {
  await page.goto(`${demo.file.authUrl}/passport`);
  await signIn(page);
  await page.waitForURL('**/passport');
}

async function openShop(page: Page): Promise<void> {
  await page.goto(demo.partnerUrl);
  await page.locator('button[value=confidential]').click();
  await signIn(page);
  await page.waitForURL(/interaction|localhost/);
  const approve = page.locator('button[value=approve]');
  if (await approve.isVisible()) await approve.click();
  await page.getByRole('heading', { name: /Bonjou/ }).waitFor();
}

test('the passport page is readable and accessible', async () => {
  const { page, complaints } = await open();
  await openPassport(page);
  expect(await page.locator('#countdown').textContent()).toMatch(/: (5:00|4:5\d)$/);
  await page.locator('summary').click();
  expect(await page.locator('#token').textContent()).toMatch(/^eyJ[\w.-]+$/);
  await expectLooks(page, 'one');
  for (const viewport of [small, large]) {
    await page.setViewportSize(viewport);
    const code = await page.locator('svg.qr').boundingBox();
    expect(code?.width).toBeGreaterThan(220);
  }
  expect(complaints).toEqual([]);
});

test('the landing page links to the passport, which shows its expiry, and a button makes a new one', async () => {
  const { page, complaints } = await open();
  await page.clock.install();
  await openPassport(page);
  await page.goto(`${demo.file.authUrl}/`);
  await expectGood(page);
  await page.getByRole('link', { name: 'Show my passport' }).click();
  await page.locator('svg.qr').waitFor();
  const token = await page.locator('#token').textContent();
  expect(await page.locator('#ended').isVisible()).toBe(false);
  await page.clock.fastForward(299_000);
  expect(await page.locator('#countdown').textContent()).toMatch(/: 0:0[01]$/);
  await page.clock.fastForward(2_000);
  expect(await page.locator('#ended').textContent()).toContain('has ended');
  expect(await page.locator('#countdown').isVisible()).toBe(false);
  await expectGood(page);
  await page.getByRole('button', { name: 'New passport' }).click();
  await page.waitForURL('**/passport');
  await page.locator('#countdown').waitFor();
  expect(await page.locator('#token').textContent()).not.toBe(token);
  expect(page.url()).toBe(`${demo.file.authUrl}/passport`);
  expect(complaints).toEqual([]);
});

test.each([
  ['Asia/Tokyo', 'en-US'],
  ['America/Port-au-Prince', 'fr-FR'],
])('the passport ends by the clock of a reader in %s', async (timezoneId, locale) => {
  const { page } = await open({ timezoneId, locale });
  await openPassport(page);
  const until = page.locator('#until');
  const end = Date.parse((await until.getAttribute('datetime')) ?? '');
  const zone = { timeZone: timezoneId, timeZoneName: 'short' } as const;
  const digits = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
  const language = locale.slice(0, 2);
  const expected = new Date(end).toLocaleTimeString(language, { ...digits, ...zone });
  const spoken = (text: string | null) => text?.replace(/\s/g, ' ');
  expect(spoken(await until.textContent())).toBe(spoken(expected));
});

test('the passport needs no script', async () => {
  const { page } = await open({ javaScriptEnabled: false });
  await openPassport(page);
  expect(await page.locator('svg.qr').isVisible()).toBe(true);
  expect(await page.locator('time').textContent()).toMatch(/^\d{1,2}:\d\d:\d\d [AP]M UTC$/);
  expect(await page.locator('#countdown').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'New passport' }).click();
  expect(await page.locator('svg.qr').isVisible()).toBe(true);
});

test('the shop pays its customer', async () => {
  const { page, complaints } = await open();
  await openShop(page);
  await page.locator('label.pick').nth(1).click();
  await page.locator('.cashback form button.primary').click();
  const transfer = page.locator('.transfer');
  await transfer.waitFor();
  expect(await transfer.textContent()).toContain('25.00 HTG');
  // The page sends no request: the webhook arrives at the shop, and the shop updates the page.
  await page.locator('.transfer[data-status=completed]').waitFor();
  await expectLooks(page, 'one');
  expect(complaints).toEqual([]);
});

test('without scripts the customer reloads the state of the payment', async () => {
  const { page } = await open({ javaScriptEnabled: false });
  await openShop(page);
  await page.locator('.cashback form button.primary').click();
  await expect
    .poll(async () => {
      await page.reload();
      return page.locator('.transfer').getAttribute('data-status');
    })
    .toBe('completed');
});

/** Triggers a sandbox event, as the console does. */
async function trigger(message: string): Promise<void> {
  const { apiKeys, baseUrl } = demo.file;
  const apiKey = apiKeys.find(({ mode }) => mode === 'test')?.key ?? '';
  const { sandbox } = new OstiaryPartner({ apiKey, baseUrl });
  await sandbox.triggerEvent({ type: 'webhook.test', data: { message } });
}

// Pages for developers are always in English.
test('the shop shows webhooks as they arrive', async () => {
  const { page, complaints } = await open({ locale: 'fr-FR' });
  await page.goto(`${demo.partnerUrl}/webhooks`);
  await page.getByText('Updating live').waitFor();
  await expectLooks(page, 'one');
  const message = 'Good morning';
  await trigger(message);
  const event = page.locator('.event', { hasText: message });
  await event.locator('[data-outcome=handled]').waitFor();
  expect(await page.locator('#live-status').textContent()).toContain('the latest is webhook.test, handled');
  // Open details stay open when another event arrives.
  await event.locator('summary').click();
  await trigger(`${message}, again`);
  await page.locator('.event', { hasText: `${message}, again` }).waitFor();
  expect(await event.first().locator('details').getAttribute('open')).toBeNull();
  expect(await page.locator('.event details[open]').count()).toBe(1);
  expect(await page.locator('.event details[open] pre').textContent()).toContain(`"${message}"`);
  await expectLooks(page, 'other');
  expect(complaints).toEqual([]);
});

test('without scripts webhooks appear after reloading', async () => {
  const { page } = await open({ javaScriptEnabled: false });
  await page.goto(`${demo.partnerUrl}/webhooks`);
  await trigger('Without a script');
  await expect
    .poll(async () => {
      await page.getByRole('link', { name: 'Reload' }).click();
      return page.getByText('Without a script').count();
    })
    .toBeGreaterThan(0);
  expect(await page.getByText('Updating live').isVisible()).toBe(false);
});

test('the shop verifies a passport that is pasted', async () => {
  const customer = await open();
  await openPassport(customer.page);
  const token = (await customer.page.locator('#token').textContent()) ?? '';
  const { page, complaints } = await open({ locale: 'fr-FR' });
  await page.goto(`${demo.partnerUrl}/verify`);
  await expectLooks(page, 'one');
  await page.getByLabel('Passport').fill(token);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.locator('#verified').waitFor();
  expect(await page.locator('[data-field=kid] dd').textContent()).toBe(userAt(0).kid);
  expect(page.url()).toBe(`${demo.partnerUrl}/verify`);
  expect(await page.content()).not.toContain(token);
  await expectLooks(page, 'other');
  expect(complaints).toEqual([]);
  await page.getByLabel('Passport').fill(`${token}x`);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('invalid_request').waitFor();
  expect(await page.locator('#verified').count()).toBe(0);
  await expectLooks(page, 'one');
});
