import type { Browser, Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { watchedConsoles } from '../../../packages/console/test/page-tables.ts';
import { png } from '../../../packages/core/test/support/png.ts';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { controlOf, pressUntil } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { careful, secret, startConsole } from './console-pages.ts';

type Device = 'mouse' | 'keyboard';

/** Input devices with which people use the consoles, with the name of their tests. */
const devices = [
  ['with the keyboard alone and without scripts', 'keyboard'],
  ['with the mouse and with scripts', 'mouse'],
] as const satisfies readonly (readonly [string, Device])[];

/** Uses a page with the keyboard: moves the focus forward to a control, and presses keys there. */
function keyboardOn(page: Page) {
  const { keyboard } = page;
  const enter = (name: RegExp) => pressUntil(page, 'Tab', name);
  async function pressAt(name: RegExp, key: string): Promise<void> {
    await enter(name);
    await keyboard.press(key);
  }
  return {
    enter,
    press: (name: RegExp) => pressAt(name, 'Enter'),
    tick: (name: RegExp) => pressAt(name, 'Space'),
    /** Chooses the next option of a drop-down list. */
    chooseNext: (name: RegExp) => pressAt(name, 'ArrowDown'),
    /** Enters the first of January 2026 into a field for times. */
    async enterTime(name: RegExp): Promise<void> {
      await enter(name);
      // Type the parts of a time in the order of American English.
      await keyboard.type('01012026');
      await keyboard.press('ArrowRight');
      await keyboard.type('1200AM');
    },
  };
}

/** Uses a page with the mouse: clicks on controls. The lists and calendars that the browser itself opens are not part of the page. */
function mouseOn(page: Page) {
  const click = async (name: RegExp) => (await controlOf(page, name)).click();
  return {
    enter: click,
    press: click,
    tick: click,
    async chooseNext(name: RegExp): Promise<void> {
      const list = await controlOf(page, name);
      await list.selectOption({
        index: 1 + (await list.evaluate((element) => (element as HTMLSelectElement).selectedIndex)),
      });
    },
    enterTime: async (name: RegExp) => (await controlOf(page, name)).fill('2026-01-01T00:00'),
  };
}

describe('every action of the consoles', () => {
  let consoles: ReturnType<typeof watchedConsoles>;
  let provider: TestProvider;
  let browser: Browser;
  let urlOf: (path: string) => string;

  beforeEach(async () => {
    consoles = watchedConsoles();
    ({ provider, browser, urlOf } = await startConsole(careful, {
      console: consoles.console,
      operators: { authenticate: () => ({ name: 'ana' }), pages: consoles.pages },
    }));
    return () => browser.close();
  });

  /**
   * Opens a browser profile whose person uses one input device, and finds controls of the pages by their
   * text or label. Records the paths of the routes to which the person sent forms.
   */
  async function visit(device: Device) {
    const { page } = await newProfile(browser, { javaScriptEnabled: device === 'mouse' });
    const hand = device === 'mouse' ? mouseOn(page) : keyboardOn(page);
    const done = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      const line = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname);
      if (request.method() === 'POST') for (const path of consoles.posted().filter(line)) done.add(path);
    });
    const left = (console: string) =>
      consoles.posted().filter((path) => path.startsWith(console) && !done.has(path));
    /**
     * Follows a link, presses a button, or opens a folded part of a page, and waits for the result.
     */
    async function press(name: RegExp, text?: string): Promise<void> {
      await hand.press(name);
      if (text !== undefined) await page.getByText(text).first().waitFor();
    }
    return {
      ...hand,
      ...{ page, left, press, go: (path: string) => page.goto(`${provider.origin}${path}`) },
      /** Replaces the text of a form field. */
      async type(name: RegExp, text: string): Promise<void> {
        await hand.enter(name);
        await page.keyboard.press('Control+A');
        await page.keyboard.type(text);
      },
      /** Opens an action of the console that asks for confirmation, and presses the confirming button. */
      async asked(name: RegExp, button: RegExp, text: string): Promise<void> {
        await press(name);
        await press(button, text);
      },
    };
  }

  it.each(devices)(
    'of the sandbox, %s',
    async (_, device) => {
      const { page, left, go, press, type, chooseNext, enterTime, asked } = await visit(device);
      const { key } = await provider.key({ mode: 'test' });
      await go('/sandbox');
      await type(/^Test API key$/, key);
      await press(/^Sign in$/, 'First steps');
      await press(/^Hide until I sign in again$/);
      await page.getByText('First steps').waitFor({ state: 'detached' });
      await press(/^Add an endpoint$/, 'Webhook secret');
      await type(/^URL$/, urlOf('/one'));
      await type(/^Webhook secret$/, secret);
      await press(/^Add an endpoint$/, 'The endpoint is registered.');
      await press(/^Send a test event$/, 'The first event');
      await go('/sandbox');
      await chooseNext(/^payment\.completed/);
      await press(/^Edit the data first$/, 'Edit a test event');
      await press(
        /^Send$/,
        'The test event is published. It goes to every enabled test endpoint that takes its type.',
      );
      await page.getByRole('heading', { name: 'payment.failed' }).waitFor();
      await expect
        .poll(async () => {
          await page.reload();
          return page.getByText('Your endpoint took the event.').count();
        })
        .toBe(1);
      await press(/^Deliver again here/, 'The event is on its way again.');

      await press(/^http:\/\/shop\.example/, 'Registered');
      await press(/^Edit address and types$/, 'this installation allows private ones');
      await type(/^URL$/, urlOf('/two'));
      await press(/^Save$/, 'The endpoint is saved.');
      await press(/^Replace the secret$/, 'A generated secret');
      await press(/^Generate a secret$/, 'Your new secret');
      await type(/^New secret$/, secret);
      await press(
        /^Sign with it from now on$/,
        'The new secret signs every attempt that begins more than a second from now.',
      );
      await enterTime(/^Since \(UTC\)$/);
      await press(/^Recover$/, 'There is nothing to recover since then.');
      await press(/^Disable$/, 'The endpoint is disabled');
      await press(/^Enable$/, 'The endpoint is enabled.');

      await press(/^Test tools$/, 'Signature check');
      await press(/^Make the payment$/, 'The payment is initiated');
      await press(/^Test tools$/, 'Signature check');
      await press(/^Mint a passport$/, 'shown this once');
      await press(/^Check it$/, 'This endpoint verifies signatures');
      await press(/^Change it$/, 'The identity check is changed');
      await press(/^Test tools$/, 'Signature check');
      await press(/^Reset every user$/, 'Every sandbox user is as in the beginning again.');

      await press(/^Events and endpoints$/, 'Trigger a test event');
      await press(/^http:\/\/shop\.example/, 'Registered');
      await asked(/^Remove this endpoint$/, /^Remove for good$/, 'The endpoint is removed');
      await go('/sandbox/endpoints');
      await press(/^Use an inbox here$/, 'How the inbox answers');
      await press(/^Send a test event$/, 'Requests as they arrived');
      await chooseNext(/^200: success/);
      await press(/^Save$/, 'The endpoint is saved.');
      await press(/^Sign out$/, 'You are signed out.');
      expect(left('/sandbox')).toEqual([]);
    },
    90_000,
  );

  it.each(devices)(
    'for operators, %s',
    async (_, device) => {
      const { page, left, go, press, type, tick, asked } = await visit(device);
      const twice = (name: RegExp, text: string) => asked(name, name, text);
      const key = await provider.key({ mode: 'test', partner: await provider.partner('till') });
      const url = urlOf('/till');
      const given = { url, events: ['*'], secret };
      await provider.partnerCall(key, 'POST /v1/partner/webhooks', given);
      await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' });

      await go('/operators');
      await press(/^Partners \d+$/, 'Create a partner');
      await type(/^Slug$/, 'kafe');
      await type(/^Name$/, 'Kafe');
      await press(/^Create a partner$/, 'It is created.');
      await type(/^Name$/, 'Kafe Lakay');
      await press(/^Rename$/, 'The changes are saved.');
      await twice(/^Disable this partner$/, 'It is disabled.');
      await twice(/^Enable this partner$/, 'It is enabled.');
      await go('/operators/partners/kafe/keys');
      await tick(/^webhooks$/);
      await press(/^Issue a key$/, 'Keep this now');
      // The new key is a test key by default.
      expect(await page.getByText(/^svc_test_\w{30,}$/).count()).toBe(1);
      await press(/^I have kept it$/, 'Roll this key');
      expect(await provider.ostiary.admin.apiKeys.list('kafe')).toHaveLength(1);
      await twice(/^Roll this key$/, 'Keep this now');
      await press(/^I have kept it$/, 'Revoke this key');
      await twice(/^Revoke this key$/, 'The key is revoked.');

      await expect
        .poll(async () => {
          await go('/operators/partners/till/webhooks?mode=test&status=delivered');
          return page.getByRole('button', { name: 'Deliver again here' }).count();
        })
        .toBe(1);
      await press(/^Deliver again here$/, 'What is to be delivered again is due now.');
      await press(new RegExp(`^${url}$`), 'Recover this endpoint');
      await press(/^Recover this endpoint$/);
      await type(/^Dropped since$/, '2026-01-01T00:00:00Z');
      await press(/^Recover this endpoint$/, 'there is nothing to recover since then');
      await twice(/^Disable this endpoint$/, 'It is disabled.');
      await twice(/^Enable this endpoint$/, 'It is enabled.');
      await twice(/^Remove this endpoint$/, 'It is removed.');

      await press(/^Apps \(OAuth clients\) \d+$/, 'Create a client');
      await press(/^Create a client$/, 'Redirect URIs');
      await type(/^Name$/, 'Rara Market');
      await type(/^Redirect URIs$/, 'https://rara.example/callback');
      await tick(/^openid$/);
      await press(/^Create a client$/, 'Keep this now');
      await press(/^I have kept it$/, 'Issue another secret');
      await type(/^Name$/, 'Rara');
      await press(/^Save$/, 'The changes are saved.');
      await twice(/^Issue another secret$/, 'Keep this now');
      await press(/^I have kept it$/, 'Issue another secret');
      await press(/^Show a logo$/, 'A square PNG');
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press(/^Picture$/)]);
      await chooser.setFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png(64) });
      await press(/^Show a logo$/, 'The changes are saved.');
      await twice(/^Take the logo away$/, 'The changes are saved.');
      await twice(/^Disable this client$/, 'It is disabled.');
      await twice(/^Enable this client$/, 'It is enabled.');

      await press(/^Audit log$/, 'Check the chain');
      await press(/^Check the chain$/, 'The chain is whole.');
      await press(/^Signing keys$/, 'Rotate');
      await twice(/^Rotate$/, 'The new key is published.');
      await press(/^Maintenance$/, 'Remove old rows');
      await twice(/^Remove old rows$/, 'Old rows are removed.');
      await twice(/^Seal all secrets anew$/, 'All secrets are sealed with the first sealing key.');
      await go('/operators/user?sub=nobody');
      await twice(/^End all access to a user$/, 'No app has access to this user any more.');
      expect(left('/operators')).toEqual([]);
    },
    90_000,
  );
});
