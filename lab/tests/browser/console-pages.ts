import type { Page } from 'playwright-core';

/** Fills in the form for an endpoint; `look` is called before it is sent. */
export async function fillInEndpoint(page: Page, url: string, look = async () => {}): Promise<void> {
  await page.getByRole('link', { name: 'Add an endpoint' }).click();
  await page.getByLabel('URL').fill(url);
  await page.getByLabel('Webhook secret').fill('whsec_0123456789abcdef');
  await look();
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
}

/** Triggers an event of a type; without one, of the first. */
export async function send(page: Page, type?: string): Promise<void> {
  if (type !== undefined) await page.getByLabel('Type', { exact: true }).selectOption(type);
  await page.getByRole('button', { name: 'Send' }).click();
}

export async function signInWith(page: Page, origin: string, key: string): Promise<void> {
  await page.goto(`${origin}/sandbox`);
  await page.getByLabel('Test API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
}

/** Leaves something on the page that a reload would sweep away. */
export const mark = (page: Page): Promise<void> =>
  page.evaluate(() => {
    document.documentElement.dataset.mark = 'here';
  });

export const isMarked = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.dataset.mark === 'here');
