import { beforeEach, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import type { Page } from '../../src/pages/layout.ts';
import { scopeNames, scopes } from '../../src/scopes.ts';
import { afterwards } from '../support/running.ts';
import { startPagesServer } from './pages-server.ts';
import { apps, consent, everyPage, failure, languages, someNew, theme } from './views.ts';

const browser = await launchBrowser();
afterwards(() => browser.close());
const server = await startPagesServer();
const tab = await browser.newPage();
let complaints: string[] = [];
// A violation of the Content-Security-Policy and a failed load are console errors.
tab.on('console', (message) => {
  if (message.type() === 'error') complaints.push(message.text());
});
beforeEach(() => {
  complaints = [];
});

const open = async (page: Page): Promise<void> => {
  await tab.goto(server.show(page));
};
const texts = (selector: string): Promise<string[]> => tab.locator(selector).allTextContents();

describe.each(languages)('every page in %s', (language) => {
  it.each(Object.entries(everyPage))(
    '%s: is one document with one heading and one card, and runs nothing',
    async (_name, view) => {
      const page = view(language);
      await open(page);
      expect(await tab.evaluate('document.compatMode')).toBe('CSS1Compat');
      expect(await tab.getAttribute('html', 'lang')).toBe(language);
      expect(await tab.title()).toMatch(/.+ · Kòb$/);
      for (const selector of ['main', 'h1', 'style', 'body > header']) {
        expect(await tab.locator(selector).count(), selector).toBe(1);
      }
      expect(
        await tab.locator('script, [style], link[rel=stylesheet], iframe, object, [onclick]').count(),
      ).toBe(0);
      expect(page.html).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
      expect(complaints).toEqual([]);
    },
  );
});

describe('the style sheet', () => {
  it('is accepted under its hash, and differs with the theme', async () => {
    await open(consent('en'));
    expect(
      await tab.evaluate('getComputedStyle(document.querySelector("button.primary")).backgroundColor'),
    ).toBe('rgb(26, 79, 139)');
    const other = consent('en', { theme: { name: 'Kòb', colour: '#f4b400' } });
    expect(other.styleHash).toMatch(/^'sha256-[A-Za-z0-9+/]{43}='$/);
    expect(other.styleHash).not.toBe(consent('en').styleHash);
    await open({ ...other, styleHash: consent('en').styleHash });
    expect(complaints.join()).toContain('Content Security Policy');
  });

  it('moves nothing for people who asked for less motion', async () => {
    const motion = 'parseFloat(getComputedStyle(document.querySelector("button")).transitionDuration)';
    await tab.emulateMedia({ reducedMotion: 'no-preference' });
    await open(consent('en'));
    expect(await tab.evaluate(motion)).toBeGreaterThan(0);
    await tab.emulateMedia({ reducedMotion: 'reduce' });
    expect(await tab.evaluate(motion)).toBe(0);
  });
});

describe('the consent page', () => {
  it('says who asks, for which account, for what and where it leads', async () => {
    await open(consent('en'));
    expect(await tab.textContent('h1')).toBe('Rara Market asks for access to your Kòb account');
    expect(await texts('.scopes .title')).toEqual(scopeNames.map((name) => scopes[name].consent.en.title));
    expect(await texts('.scopes .detail')).toEqual(scopeNames.map((name) => scopes[name].consent.en.detail));
    const words = await tab.textContent('main');
    for (const part of ['Marie Joseph', 'rara.example', 'never sees your password', 'Connected apps']) {
      expect(words).toContain(part);
    }
    expect(await tab.getAttribute('.account a', 'href')).toBe('/login?again=1&to=%2Fx');
  });

  it('marks new scopes with a word, and only when told to', async () => {
    await open(consent('en'));
    expect(await texts('.badge')).toEqual([]);
    await open(consent('fr', { scopes: someNew }));
    expect(await texts('.badge')).toEqual(['Nouveau', 'Nouveau']);
    expect(await texts('.scopes li:has(.badge) .title')).toEqual([
      expect.stringContaining(scopes.kyc.consent.fr.title),
      expect.stringContaining(scopes['wallet:balance'].consent.fr.title),
    ]);
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
        expect(await tab.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
        expect(await tab.evaluate('parseFloat(getComputedStyle(document.activeElement).outlineWidth)')).toBe(
          3,
        );
      }
      await Promise.all([tab.waitForURL('**/oauth/interaction/abc'), tab.keyboard.press('Enter')]);
      expect(server.posts.at(-1)).toEqual({
        path: '/oauth/interaction/abc',
        fields: { csrf: `a"b<c>'&d`, decision },
      });
    },
  );

  it('cannot be rewritten by the names that it shows', async () => {
    const hostile = `</bdi></h1><img src=x onerror=alert(1)>"'&\u202eknaB`;
    await open(consent('en', { clientName: hostile, userName: hostile, redirectHost: hostile }));
    const shown = hostile.replace('\u202e', '\ufffd');
    expect(await tab.textContent('h1 .name')).toBe(shown);
    expect(await tab.textContent('.account strong')).toBe(shown);
    expect(await tab.title()).toBe(`Allow ${shown}? · Kòb`);
    expect(await tab.locator('img').count()).toBe(0);
    expect(await tab.content()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(await tab.evaluate('[...document.querySelectorAll("h1 bdi")].length')).toBe(2);
  });

  it('shows a logo in place of the monogram', async () => {
    await open(consent('en', { theme: { ...theme, logo: '/logo.svg' } }));
    expect(await tab.getAttribute('.brand img', 'alt')).toBe('Kòb');
    expect(await tab.evaluate('document.querySelector(".brand img").naturalWidth')).toBe(80);
    expect(await tab.locator('.brand svg').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('the page of connected apps', () => {
  it('shows each app with what it sees and since when, in UTC', async () => {
    await open(apps('en'));
    expect(await texts('.app h2')).toEqual(['Rara Market', 'Lakou Books']);
    const times = await tab.evaluate(
      '[...document.querySelectorAll("time")].map((time) => [time.dateTime, time.textContent])',
    );
    expect(times).toEqual([
      ['2026-01-05T23:30:00.000Z', 'January 5, 2026'],
      ['2026-03-12T08:00:00.000Z', 'March 12, 2026'],
      ['2026-01-05T23:30:00.000Z', 'January 5, 2026'],
    ]);
    await open(apps('fr'));
    expect(await texts('.app:first-child time')).toEqual(['5 janvier 2026', '12 mars 2026']);
  });

  it('removes the app whose button is pressed', async () => {
    await open(apps('en'));
    await tab.getByRole('button', { name: 'Remove access of Lakou Books', exact: true }).click();
    await tab.waitForURL('**/revoke');
    expect(server.posts.at(-1)).toEqual({
      path: '/account/apps/lakou/revoke',
      fields: { csrf: 'csrf-lakou' },
    });
  });

  it('tells what was removed, and that nothing is left', async () => {
    await open(apps('en', { apps: [], notice: 'revoked' }));
    expect(await texts('main h2')).toEqual(['No connected apps']);
    expect(await tab.getByRole('status').textContent()).toBe('The app no longer has access to your account.');
    await open(apps('en'));
    expect(await tab.getByRole('status').count()).toBe(0);
  });
});

describe('an error page', () => {
  it('folds the technical words away, and shows the reference', async () => {
    await open(failure('en', 'invalid_request', 'scope "<x>" is unknown\u202e'));
    const detail = tab.locator('details code');
    expect(await detail.isVisible()).toBe(false);
    await tab.click('summary');
    expect(await detail.textContent()).toBe('scope "<x>" is unknown\ufffd');
    expect(await tab.textContent('.technical')).toContain('0198c1b2-93ab-7c2e');
    await open(failure('en', 'invalid_request', null));
    expect(await tab.locator('details').count()).toBe(0);
  });
});
