import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { watchedConsoles } from '../../../packages/console/test/page-tables.ts';
import { png } from '../../../packages/core/test/support/png.ts';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { pressUntil } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { careful, secret, startConsole } from './console-pages.ts';

/** What somebody's hands do with a page. */
interface Hands {
  /** Follows a link, presses a button, or unfolds what is folded. */
  press(name: RegExp): Promise<void>;
  /** Replaces what stands in a field. */
  type(name: RegExp, text: string): Promise<void>;
  /** Types a time into a field that takes one. */
  typeTime(name: RegExp): Promise<void>;
  tick(name: RegExp): Promise<void>;
  /** Opens the choice of a file. */
  browse(name: RegExp): Promise<void>;
  /** Sends the form whose field was filled in last. */
  send(button: RegExp): Promise<void>;
  /** Unfolds an act that asks first, and presses the button in it. */
  confirm(name: RegExp, button: RegExp): Promise<void>;
}

/** On the keyboard alone: along the page to an element with this text or label. */
function keyboardOf(page: Page): Hands {
  const to = (name: RegExp) => pressUntil(page, 'Tab', name);
  const { keyboard } = page;
  async function press(name: RegExp): Promise<void> {
    await to(name);
    await keyboard.press('Enter');
  }
  return {
    press,
    async type(name, text) {
      await to(name);
      await keyboard.press('Control+A');
      await keyboard.type(text);
    },
    async typeTime(name) {
      await to(name);
      // The parts of a time as a browser in American English has them.
      await keyboard.type('01012026');
      await keyboard.press('ArrowRight');
      await keyboard.type('1200AM');
    },
    async tick(name) {
      await to(name);
      await keyboard.press('Space');
    },
    browse: press,
    send: press,
    async confirm(name, button) {
      await press(name);
      await press(button);
    },
  };
}

/** With the mouse, and the keyboard for nothing but text. */
function mouseOf(page: Page): Hands {
  const click = (kinds: readonly string[], name: RegExp) =>
    page
      .locator(kinds.map((kind) => `${kind}:visible`).join())
      .filter({ hasText: name })
      .first()
      .click();
  let form = page.locator('form');
  function field(name: RegExp) {
    const found = page.getByLabel(name).filter({ visible: true }).first();
    form = found.locator('xpath=ancestor::form');
    return found;
  }
  return {
    press: (name) => click(['a', 'button', 'summary'], name),
    type: (name, text) => field(name).fill(text),
    typeTime: (name) => field(name).fill('2026-01-01T00:00'),
    tick: (name) => field(name).check(),
    browse: (name) => field(name).click(),
    send: (button) => form.getByRole('button', { name: button }).click(),
    async confirm(name, button) {
      await click(['summary'], name);
      await click(['button'], button);
    },
  };
}

describe.each([
  ['with the keyboard alone and without scripts', keyboardOf, false],
  ['with the mouse', mouseOf, true],
] as const)('every action of the consoles, %s', (_, handsOf, javaScriptEnabled) => {
  const consoles = watchedConsoles();
  let provider: TestProvider;
  let browser: Browser;
  let urlOf: (path: string) => string;

  beforeAll(async () => {
    ({ provider, browser, urlOf } = await startConsole(careful, {
      console: consoles.console,
      operators: { authenticate: () => ({ name: 'ana' }), pages: consoles.pages },
    }));
    return () => browser.close();
  });

  /** A page that remembers to which lines of the tables it has sent a form. */
  async function visit() {
    const { page } = await newProfile(browser, { javaScriptEnabled });
    const done = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      const line = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname);
      if (request.method() === 'POST') for (const path of consoles.posted().filter(line)) done.add(path);
    });
    const left = (console: string) =>
      consoles.posted().filter((path) => path.startsWith(console) && !done.has(path));
    const hands = handsOf(page);
    const seen = (text: string) => page.getByText(text).first().waitFor();
    return {
      ...hands,
      ...{ page, left, seen, go: (path: string) => page.goto(`${provider.origin}${path}`) },
      /** Presses something, and waits for what comes of it. */
      async press(name: RegExp, text?: string): Promise<void> {
        await hands.press(name);
        if (text !== undefined) await seen(text);
      },
      async asked(name: RegExp, button: RegExp, text: string): Promise<void> {
        await hands.confirm(name, button);
        await seen(text);
      },
    };
  }

  it('of the sandbox', async () => {
    const { page, left, go, press, type, typeTime, send, asked, seen } = await visit();
    const { key } = await provider.key({ mode: 'test' });
    await go('/sandbox');
    await type(/^Test API key$/, key);
    await send(/^Sign in$/);
    await seen('First steps');
    await press(/^Hide until I sign in again$/);
    await page.getByText('First steps').waitFor({ state: 'detached' });
    await press(/^Add an endpoint$/, 'Webhook secret');
    await type(/^URL$/, urlOf('/one'));
    await type(/^Webhook secret$/, secret);
    await send(/^Add an endpoint$/);
    await seen('The endpoint is registered.');
    await press(/^Edit the data first$/, 'Edit a test event');
    await press(/^Send$/, 'The event is on its way.');
    await expect
      .poll(async () => {
        await page.reload();
        return page.getByText('Your endpoint took the event.').count();
      })
      .toBe(1);
    await press(/^Deliver again$/, 'The event is on its way again.');

    await press(/^http:\/\/shop\.example/, 'Registered');
    await press(/^Edit address and types$/, 'A public https address');
    await type(/^URL$/, urlOf('/two'));
    await press(/^Save$/, 'The endpoint is saved.');
    await press(/^Replace the secret$/, 'A generated secret');
    await press(/^Generate a secret$/, 'Your new secret');
    await type(/^New secret$/, secret);
    await send(/^Sign with it from now on$/);
    await seen('The new secret signs from the next attempt on.');
    await typeTime(/^Since \(UTC\)$/);
    await send(/^Recover$/);
    await seen('Nothing was dropped since then.');
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
    await press(/^Sign out$/, 'You are signed out.');
    expect(left('/sandbox')).toEqual([]);
  }, 90_000);

  it('for operators', async () => {
    const { page, left, go, press, type, tick, browse, send, asked, seen } = await visit();
    const twice = (name: RegExp, text: string) => asked(name, name, text);
    const key = await provider.key({ mode: 'test', partner: await provider.partner('till') });
    const url = urlOf('/till');
    const given = { url, events: ['*'], secret };
    await provider.partnerCall(key, 'POST /v1/partner/webhooks', given);
    await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' });

    await go('/operators');
    await press(/^Partners$/, 'Create a partner');
    await type(/^Slug$/, 'kafe');
    await type(/^Name$/, 'Kafe');
    await send(/^Create a partner$/);
    await seen('It is created.');
    await type(/^Name$/, 'Kafe Lakay');
    await press(/^Rename$/, 'The changes are saved.');
    await twice(/^Disable this partner$/, 'It is disabled.');
    await twice(/^Enable this partner$/, 'It is enabled.');
    await press(/^API keys$/, 'There are no keys yet.');
    await tick(/^webhooks$/);
    await press(/^Issue a key$/, 'Keep this now');
    // For tests, as nobody said otherwise.
    expect(await page.getByText(/^svc_test_/).count()).toBe(1);
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
    await send(/^Recover this endpoint$/);
    await seen('nothing was dropped since then');
    await twice(/^Disable this endpoint$/, 'It is disabled.');
    await twice(/^Enable this endpoint$/, 'It is enabled.');
    await twice(/^Remove this endpoint$/, 'It is removed.');

    await press(/^OAuth clients$/, 'Create a client');
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
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), browse(/^Picture$/)]);
    await chooser.setFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png(64) });
    await send(/^Show a logo$/);
    await seen('The changes are saved.');
    await twice(/^Take the logo away$/, 'The changes are saved.');
    await twice(/^Disable this client$/, 'It is disabled.');
    await twice(/^Enable this client$/, 'It is enabled.');

    await press(/^Audit log$/, 'Check the chain');
    await press(/^Check the chain$/, 'The chain is whole.');
    await press(/^Signing keys$/, 'Rotate');
    await twice(/^Rotate$/, 'The new key is published.');
    await press(/^Upkeep$/, 'Remove old rows');
    await press(/^End all access to a user$/);
    await type(/^User \(sub\)$/, 'nobody');
    await send(/^End all access to a user$/);
    await seen('No app has access to this user any more.');
    await twice(/^Remove old rows$/, 'Old rows are removed.');
    await twice(/^Seal all secrets anew$/, 'All secrets are sealed with the first sealing key.');
    expect(left('/operators')).toEqual([]);
  }, 90_000);
});
