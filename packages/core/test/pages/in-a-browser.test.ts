import { text } from 'node:stream/consumers';
import type { NodeResult } from 'axe-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import { examine } from '../../../../lab/support/browser/page-checks.ts';
import { shippedLanguages } from '../../src/languages/load.ts';
import type { Page } from '../../src/pages/layout.ts';
import { scopeNames, scopes } from '../../src/scopes/scopes.ts';
import { afterwards, serve } from '../support/running.ts';
import {
  apps,
  consent,
  everyPage,
  failure,
  languageOf,
  languages,
  others,
  removed,
  someNew,
  someOptional,
  theme,
} from './views.ts';

const browser = await launchBrowser();
afterwards(() => browser.close());
const tab = await browser.newPage();

/** Page that the test server returns, with the style hash for its Content-Security-Policy. */
let shown = consent('en');
let posted: object = {};
const origin = await serve(async (request, response) => {
  const { url: path = '', method } = request;
  if (method === 'POST') {
    posted = { path, ...Object.fromEntries(new URLSearchParams(await text(request))) };
    return response.end('received');
  }
  const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 20" width="80" height="20"/>';
  if (path === '/logo.svg') return response.setHeader('Content-Type', 'image/svg+xml').end(logo);
  const policy = `default-src 'none'; style-src ${shown.styleHash}; img-src data: 'self'; base-uri 'none'`;
  response.setHeader('Content-Security-Policy', policy);
  return response.setHeader('Content-Type', 'text/html; charset=utf-8').end(shown.html);
});

// Console errors of the browser, such as a violation of the Content-Security-Policy or a failed load.
let complaints: string[] = [];
tab.on('console', (message) => {
  if (message.type() === 'error') complaints.push(message.text());
});
beforeEach(() => {
  complaints = [];
});

async function open(page: Page): Promise<void> {
  shown = page;
  await tab.goto(`${origin}/page`);
}
const texts = (selector: string): Promise<string[]> => tab.locator(selector).allTextContents();
const styleOf = (selector: string, property: string) =>
  tab.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);

// Ignores an undecided check of axe: the letter of a monogram, whose colours colour.test.ts measures.
const isSingleLetter = ({ any }: NodeResult): boolean =>
  any.some(({ data }) => data?.messageKey === 'shortTextContent');

/**
 * Returns the problems, and the undecided checks, that the accessibility checker axe finds on the current
 * page.
 */
async function findings(): Promise<string[]> {
  const { kept, violations, incomplete } = await examine(tab);
  // Require some rules, because a page without them would pass for the wrong reason.
  expect(kept).toBeGreaterThan(15);
  return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes
      .filter((node) => !isSingleLetter(node))
      .map(({ html, any }) => `${id}: ${html} ${any.map(({ message }) => message).join()}`),
  );
}

const canvases = { light: 'rgb(243, 244, 247)', dark: 'rgb(13, 16, 20)' };

/**
 * Window sizes and colour schemes to check: each width and each scheme once, because the colours do not
 * depend on the width.
 */
const looks = [
  [360, 'light'],
  [1280, 'dark'],
] as const;

/**
 * Checks that the current page is accessible and never scrolls sideways, in the reader's colour scheme.
 */
async function expectNoBarrier(): Promise<void> {
  for (const [width, colorScheme] of looks) {
    await tab.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await tab.setViewportSize({ width, height: 800 });
    expect(await findings(), `${colorScheme} at ${width}`).toEqual([]);
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await styleOf('body', 'backgroundColor')).toBe(canvases[colorScheme]);
  }
}

/** Pages to check. Most error pages are left out, since they differ only in their texts. */
const pages: readonly (readonly [name: string, view: (language: string) => Page])[] = [
  ...Object.entries(everyPage).filter(([name]) => !name.startsWith('error ')),
  ['error with technical words', (language) => failure(language, 'invalid_request')],
  ['error without them', (language) => failure(language, 'internal', null)],
];

describe.each(languages)('every page in %s', (language) => {
  it.each(pages)(
    '%s: is one document with one heading and one card, runs nothing and has no barrier',
    async (_name, view) => {
      const page = view(language);
      await open(page);
      expect(await tab.evaluate('document.compatMode')).toBe('CSS1Compat');
      expect(await tab.getAttribute('html', 'lang')).toBe(language);
      expect(await tab.title()).toMatch(/.+ · Kòb$/);
      for (const selector of ['main', 'h1', 'style', 'body > header'])
        expect(await tab.locator(selector).count(), selector).toBe(1);
      const active = 'script, [style], link[rel=stylesheet], iframe, object, [onclick]';
      expect(await tab.locator(active).count()).toBe(0);
      // The page links to pages of the app, and loads no resource.
      const loaded = page.html.replaceAll(/<a href="https:[^"]*" target="_blank"/g, '');
      expect(loaded).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
      expect(complaints).toEqual([]);
      await expectNoBarrier();
    },
  );
});

it.each(others)('pages in %s are read in its direction, and have no barrier either', async (language) => {
  for (const page of [consent(language, { scopes: someNew }), apps(language), failure(language, 'csrf')]) {
    await open(page);
    await expectNoBarrier();
    expect(await tab.getAttribute('html', 'lang')).toBe(language);
    expect(await styleOf('body', 'direction')).toBe(language === 'ar' ? 'rtl' : 'ltr');
  }
});

it('names without a space in them do not widen the page', async () => {
  const long = 'w'.repeat(120);
  const wide = { name: 'W'.repeat(60), colour: '#1a4f8b' };
  const names = { clientName: long, userName: long, redirectTarget: `${long}.example`, theme: wide };
  const notice = { ...removed, clientName: long };
  const pages = [
    consent('fr', names),
    apps('fr', { userName: long, notice }),
    failure('fr', 'internal', long),
  ];
  for (const page of pages) {
    await open(page);
    await expectNoBarrier();
  }
});

describe('the style sheet', () => {
  it('is accepted under its hash, and differs with the theme', async () => {
    await open(consent('en'));
    expect(await styleOf('button.primary', 'backgroundColor')).toBe('rgb(26, 79, 139)');
    const other = consent('en', { theme: { name: 'Kòb', colour: '#f4b400' } });
    expect(other.styleHash).toMatch(/^'sha256-[A-Za-z0-9+/]{43}='$/);
    expect(other.styleHash).not.toBe(consent('en').styleHash);
    await open({ ...other, styleHash: consent('en').styleHash });
    expect(complaints.join()).toContain('Content Security Policy');
  });

  it('moves nothing for people who asked for less motion', async () => {
    await open(consent('en'));
    await tab.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await styleOf('button', 'transitionDuration')).toMatch(/[1-9]/);
    await tab.emulateMedia({ reducedMotion: 'reduce' });
    expect(await styleOf('button', 'transitionDuration')).toBe('0s');
  });
});

describe('the consent page', () => {
  it('names the app, the account, the scopes and the target, and marks new scopes if requested', async () => {
    await open(consent('en'));
    expect(await tab.textContent('h1')).toBe('Rara Market asks for access to your Kòb account');
    for (const part of ['title', 'detail'] as const)
      expect(await texts(`.scopes .${part}`)).toEqual(
        scopeNames.map((name) => scopes[name].consent.en[part]),
      );
    const words = await tab.textContent('main');
    for (const part of ['Marie Joseph', 'rara.example', 'never sees your password', 'Connected apps'])
      expect(words).toContain(part);
    expect(await tab.getAttribute('.account a', 'href')).toBe('/login?again=1&to=%2Fx');
    expect(await texts('.badge')).toEqual([]);
    await open(consent('fr', { scopes: someNew }));
    expect(await texts('.badge')).toEqual(['Nouveau', 'Nouveau']);
  });

  it.each([
    ['approve', 2],
    ['deny', 3],
  ])(
    'posts "%s" from the keyboard alone, with a focus that can be seen on the way',
    async (decision, presses) => {
      await open(consent('en', { csrfToken: `a"b<c>'&d` }));
      for (let press = 0; press < presses; press += 1) {
        await tab.keyboard.press('Tab');
        expect(await styleOf(':focus', 'outline')).toContain('solid 3px');
      }
      await Promise.all([tab.waitForURL('**/oauth/interaction/abc'), tab.keyboard.press('Enter')]);
      expect(posted).toEqual({ path: '/oauth/interaction/abc', csrf: `a"b<c>'&d`, decision });
    },
  );

  it('lets the user leave out optional scopes by a click on their row, without script', async () => {
    await open(consent('en', { scopes: someOptional }));
    const boxes = tab.getByRole('checkbox');
    expect([await boxes.count(), await tab.getByText('Needed', { exact: true }).count()]).toEqual([
      2,
      scopeNames.length - 2,
    ]);
    expect(await boxes.nth(0).isChecked()).toBe(true);
    expect(await boxes.nth(1).isChecked()).toBe(false);
    expect(await texts('.value')).toEqual(['Marie Joseph · @marie']);
    await tab.getByText('See your balances').click();
    await tab.getByText('See your identity check').click();
    await tab.getByRole('button', { name: 'Allow' }).click();
    await tab.waitForURL('**/oauth/interaction/abc');
    expect(posted).toEqual({
      path: '/oauth/interaction/abc',
      ...{ csrf: 'csrf-token', decision: 'approve', offered: 'kyc wallet:balance' },
      'allow:wallet:balance': 'on',
    });
  });

  it('says whose app it is, where it is, and how long it has access', async () => {
    await open(consent('en'));
    expect(await tab.textContent('.lead p')).toBe('rara.example · registered by Rara S.A.');
    await open(consent('en', { partnerName: 'Rara Market' }));
    expect(await tab.textContent('.lead p')).toBe('rara.example');
    const promise = 'Each sign-in gives it access for one hour. You can withdraw';
    expect(await tab.textContent('.promises li:last-child')).toContain(promise);
    await open(consent('en', { isWebsite: false, partnerName: null, keepsAccess: true }));
    expect(await tab.locator('.lead p').count()).toBe(0);
    expect(await tab.textContent('.promises')).toContain('It keeps this access while you are away');
  });

  it('shows a logo in place of the monogram', async () => {
    await open(consent('en', { theme: { ...theme, logo: '/logo.svg' } }));
    expect(await tab.getAttribute('.brand img', 'alt')).toBe('Kòb');
    expect(await tab.evaluate('document.querySelector(".brand img").naturalWidth')).toBe(80);
    expect([await tab.locator('.brand svg').count(), complaints]).toEqual([0, []]);
  });
});

describe('the page of connected apps', () => {
  it('shows each app with what it sees and since when, and removes the one whose button is pressed', async () => {
    await open(apps('fr'));
    expect(await texts('.app:first-child time')).toEqual(['5 janvier 2026', '12 mars 2026']);
    await open(apps('en'));
    expect(await tab.getByRole('status').count()).toBe(0);
    expect(await texts('.app h2')).toEqual(['Rara Market', 'Lakou Books']);
    expect(await texts('time')).toEqual(['January 5, 2026', 'March 12, 2026', 'January 5, 2026']);
    expect(await tab.getAttribute('time', 'datetime')).toBe('2026-01-05T23:30:00.000Z');
    await tab.getByRole('button', { name: 'Remove access of Lakou Books', exact: true }).click();
    await tab.waitForURL('**/revoke');
    expect(posted).toEqual({ path: '/account/apps/lakou/revoke', csrf: 'csrf-lakou' });
  });

  it('says what was removed, and that no app is left', async () => {
    await open(apps('en', { apps: [], notice: removed }));
    expect(await texts('main h2')).toEqual(['No connected apps']);
    const status = tab.getByRole('status');
    expect(await status.locator('p').textContent()).toBe('Rara Market no longer has access to your account.');
    await status.getByRole('button', { name: 'Undo the removal of Rara Market', exact: true }).click();
    await tab.waitForURL('**/restore');
    expect(posted).toEqual({ path: '/account/apps/rara/restore', csrf: 'csrf-undo' });
  });

  it('links to the other languages, and back to the service', async () => {
    await open(apps('en'));
    const links = await tab.locator('.languages > *').allTextContents();
    expect(links).toEqual(shippedLanguages.map((tag) => languageOf(tag).texts.language));
    expect(links.slice(0, 2)).toEqual(['English', 'Français']);
    const french = tab.getByRole('link', { name: 'Français' });
    expect(await french.getAttribute('href')).toBe('/account/apps?ui_locales=fr');
    expect(await french.getAttribute('lang')).toBe('fr');
    expect(await tab.getByRole('link', { name: 'Back to Kòb' }).getAttribute('href')).toBe('/');
  });
});

it('an error page hides the technical details, and shows the reference', async () => {
  await open(failure('en', 'invalid_request', 'scope "<x>" is unknown\u202e'));
  const detail = tab.locator('details code');
  expect(await detail.isVisible()).toBe(false);
  await tab.click('summary');
  expect(await detail.textContent()).toBe('scope "<x>" is unknown\ufffd');
  expect(await tab.textContent('.technical')).toContain('0198c1b2-93ab-7c2e');
  await open(failure('en', 'invalid_request', null));
  expect(await tab.locator('details').count()).toBe(0);
});
