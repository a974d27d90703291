import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import { ana } from '../support/directory.ts';
import { afterwards, serve, startProvider } from '../support/running.ts';

/** Time between two clicks on the same button, in milliseconds. */
const betweenMs = 300;

const provider = await startProvider();
const chromium = await launchBrowser();
afterwards(() => chromium.close());

/** Starts an app that waits for a second callback before it responds, and opens its authorization request. */
async function begin(session: string) {
  const callbacks: string[] = [];
  const second = Promise.withResolvers<void>();
  const app = await serve(async (request, response) => {
    callbacks.push(request.url ?? '');
    if (callbacks.length === 2) second.resolve();
    await second.promise;
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><h1>Welcome to the app</h1>');
  });
  const client = await provider.client({ redirectUris: [`${app}/callback`] });
  const context = await chromium.newContext();
  await context.addCookies([{ name: 'host', value: session, url: provider.origin }]);
  const page = await context.newPage();
  const statuses: number[] = [];
  page.on('response', (response) => void statuses.push(response.status()));
  await page.goto(provider.authorizeUrl(client));
  return { app, callbacks, page, statuses };
}

/** Clicks a button twice with the mouse, the second time before the first click got its response. */
async function clickTwice(page: Page, button: string): Promise<void> {
  await page.locator(button).scrollIntoViewIfNeeded();
  const box = await page.locator(button).boundingBox();
  if (box === null) throw new Error(`no button ${button}`);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.click(x, y);
  await pause(betweenMs);
  await page.mouse.click(x, y);
}

/**
 * Checks that both clicks led to the app with the same parameters, and that the user saw the app and no error
 * page.
 */
async function expectAtApp({ app, callbacks, page, statuses }: Awaited<ReturnType<typeof begin>>) {
  await page.getByText('Welcome to the app').waitFor();
  expect(page.url().startsWith(`${app}/callback?`)).toBe(true);
  expect(statuses.filter((status) => status >= 400)).toEqual([]);
  const answers = callbacks.filter((url) => url.startsWith('/callback'));
  expect(answers).toHaveLength(2);
  expect(new Set(answers).size).toBe(1);
  return new URL(page.url()).searchParams;
}

it.each([
  ['Allow', 'approve', 'code', /^[\w-]{43}$/],
  ['Deny', 'deny', 'error', /^access_denied$/],
] as const)(
  'two clicks on %s in Chromium while the app is slow end at the app',
  async (_, decision, name, value) => {
    const session = `clicks-${decision}`;
    provider.host.signIn(session, ana.sub, new Date(provider.clock.now() - 5000));
    const begun = await begin(session);
    await clickTwice(begun.page, `button[value="${decision}"]`);
    expect((await expectAtApp(begun)).get(name)).toMatch(value);
  },
);

it('so do two clicks on the button that goes back without a sign-in', async () => {
  const begun = await begin('clicks-cancel');
  const { searchParams } = new URL(begun.page.url());
  const cancelUrl = (searchParams.get('return_to') ?? '').replace('?', '/cancel?');
  await begun.page.goto(cancelUrl);
  begun.statuses.length = 0;
  await clickTwice(begun.page, 'form.actions button');
  const answer = await expectAtApp(begun);
  expect([answer.get('error'), answer.get('error_description')]).toEqual([
    'access_denied',
    'The user did not sign in.',
  ]);
});
