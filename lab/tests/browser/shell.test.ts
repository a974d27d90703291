import { operatorsConsole } from '@ostiary/console';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { lookSmallAndWide, pressUntil } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { careful, signInWith, startConsole } from './console-pages.ts';

describe('the frame of the consoles, in a real browser', () => {
  let provider: TestProvider;
  let browser: Browser;

  beforeAll(async () => {
    ({ provider, browser } = await startConsole(careful, {
      operators: { authenticate: () => ({ name: 'ana@example.com' }), pages: operatorsConsole() },
    }));
    for (let index = 0; index < 60; index += 1)
      await provider.ostiary.admin.partners.create({ slug: `kafe-${index}`, name: `Kafe ${index}` });
    return () => browser.close();
  });

  it('leads to the search with `/` and Ctrl-K, but not while somebody types', async () => {
    const { page, complaints } = await newProfile(browser);
    await page.goto(`${provider.origin}/operators/partners`);
    const focused = () => page.evaluate(() => document.activeElement?.id ?? '');
    await page.keyboard.press('/');
    expect([await focused(), await page.getByRole('searchbox').inputValue()]).toEqual(['search', '']);
    await page.getByLabel('Slug').fill('a');
    await page.keyboard.press('/');
    expect([await focused(), await page.getByLabel('Slug').inputValue()]).toEqual(['slug', 'a/']);
    await page.keyboard.press('Control+K');
    expect(await focused()).toBe('search');
    await page.keyboard.type('kafe 41');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Kafe 41' }).waitFor();
    await page.getByRole('searchbox').fill('kafe');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Only the first ones of each kind are shown.').waitFor();
    await lookSmallAndWide(page);
    expect(complaints).toEqual([]);
  }, 60_000);

  it('lets a person into the live portal: a link of an operator, its page, and the switch to test data', async () => {
    const { page: operator, complaints } = await newProfile(browser);
    await operator.goto(`${provider.origin}/operators/partners/kafe-1`);
    await operator.getByText('Make a link').first().click();
    await operator.getByLabel('Rights').selectOption('manage');
    await operator.getByRole('button', { name: 'Make a link' }).click();
    const link = (await operator.locator('[data-once]').textContent()) ?? '';
    await lookSmallAndWide(operator);

    const { page, complaints: visitorComplaints } = await newProfile(browser);
    await page.goto(link);
    await lookSmallAndWide(page);
    await pressUntil(page, 'Tab', /^Open the portal$/);
    await page.keyboard.press('Enter');
    await page.getByText('Live data. What you change here takes effect at once.').waitFor();
    await lookSmallAndWide(page);
    await page.getByRole('link', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL').fill('https://shop.example/webhooks');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.locator('[data-once]').first().waitFor();
    await page.getByRole('link', { name: 'To the endpoint' }).click();
    await page.getByRole('heading', { name: 'https://shop.example/webhooks' }).waitFor();
    await page.getByRole('link', { name: 'Test', exact: true }).click();
    await page.getByLabel('Test API key').waitFor();
    await page.goto(link);
    await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await operator.getByRole('link', { name: 'I have kept it' }).click();
    await operator.getByRole('button', { name: 'End it' }).click();
    await operator.getByText('The access is ended.').waitFor();
    await page.goto(`${provider.origin}/portal`);
    await page.getByText('Your session is over.').waitFor();
    // The browser reports the status of the used link.
    expect([...complaints, ...visitorComplaints.filter((line) => !line.includes('410'))]).toEqual([]);
  }, 90_000);

  it('works by keyboard and without a script: search, skip link, navigation, order and pages', async () => {
    const { page, complaints } = await newProfile(browser, { javaScriptEnabled: false });
    await page.goto(`${provider.origin}/operators`);
    await page.keyboard.press('Tab');
    await page.getByRole('link', { name: 'Skip to the content' }).waitFor();
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#content');
    await pressUntil(page, 'Shift+Tab', /^Partners/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Partners' }).waitFor();
    expect(await page.locator('.sections [aria-current=page]').textContent()).toContain('Partners');
    await pressUntil(page, 'Tab', /^Newest first$/);
    await page.keyboard.press('Enter');
    await page.getByText('1–50 of 60').waitFor();
    await pressUntil(page, 'Shift+Tab', /^Next page$/);
    await page.keyboard.press('Enter');
    await page.getByText('51–60 of 60').waitFor();
    await pressUntil(page, 'Shift+Tab', /^Previous page$/);
    await page.keyboard.press('Enter');
    await page.getByText('1–50 of 60').waitFor();
    await pressUntil(page, 'Tab', /^Search$/);
    await page.keyboard.type('kafe-7');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Kafe 7' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);

  it('has targets of 44 pixels in the navigation, the search, the breadcrumb and lists', async () => {
    const { page } = await newProfile(browser, { reducedMotion: 'reduce' });
    const partner = await provider.partner('till');
    await provider.key({ mode: 'test', partner });
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of ['', '/partners', '/partners/till/keys', '/partners/till/webhooks', '/keys']) {
        await page.goto(`${provider.origin}/operators${path}`);
        const small = await page.evaluate(() =>
          [
            ...document.querySelectorAll(
              '.sections a, .brand, .crumbs a, .modes a, .search button, .pages a, .order a, .rows .what a, summary, main button',
            ),
          ]
            .filter((element) => element.getBoundingClientRect().height < 43.5)
            .map((element) => element.outerHTML.slice(0, 100)),
        );
        expect([path, width, small]).toEqual([path, width, []]);
      }
    }
  }, 60_000);

  it('turns to the search of a partner, which knows nothing of others', async () => {
    const key = await provider.key({ mode: 'test', partner: await provider.partner('mine') });
    const others = await provider.key({ mode: 'test', partner: await provider.partner('others') });
    const send = async (one: typeof key) =>
      (await provider.partnerCall(one, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' })).json()
        .id;
    const [own, foreign] = [String(await send(key)), String(await send(others))];
    const { page, complaints } = await newProfile(browser);
    await signInWith(page, provider.origin, key.key);
    await page.keyboard.press('Control+K');
    await page.keyboard.type(foreign);
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was found for').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(own);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'webhook.test' }).waitFor();
    expect(complaints).toEqual([]);
  }, 60_000);
});
