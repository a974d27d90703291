import { createHmac } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../lab/support/browser/browser.ts';
import { payment } from '../../core/test/support/partner-api.ts';
import { act, answerLinks, target, visited } from './console-kit.ts';

const failed = { error: 'timeout', httpStatus: null, response: null } as const;

/** Escapes a text as the console's pages do. */
const inPage = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

describe('an attempt', () => {
  it('shows its signed request as sent over the wire, and as a curl command', async () => {
    const { kit, key, browser } = await visited();
    await kit.endpoint(key);
    const id = await kit.event(key);
    const at = Math.floor(kit.provider.clock.now() / 1000);
    await kit.attempt(failed);
    const { text } = await browser.get(`/sandbox/events/${id}`);
    const stored = await kit.storage.events.find({ partner: key.partner, mode: 'test' }, id);
    const body = stored?.body ?? '';
    const signature = createHmac('sha256', 'whsec_0123456789abcdef').update(`${at}.${body}`).digest('hex');
    for (const part of [
      `POST /hook HTTP/1.1\nhost: receiver.example\n`,
      `\nX-SVC-Signature: ${signature}\n`,
      `\ncontent-length: ${Buffer.byteLength(body)}\n\n${body}`,
      `--header 'X-SVC-Signature: ${signature}'`,
      `--data-raw '${body}'`,
    ]) {
      expect.soft(text).toContain(inPage(part));
    }
    expect(text).not.toContain('whsec_0123456789abcdef');
    expect(text).not.toContain('The endpoint was changed');
    expect(text).not.toContain('nothing of it was sent');
    expect(text).not.toContain(key.key);
  });

  it('says if its request is built with later settings, was never sent, or is no longer known', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    const id = await kit.event(key);
    await kit.attempt({ ...failed, error: 'connection_refused' });
    const page = async () => (await browser.get(`/sandbox/events/${id}`)).text;
    expect(await page()).toContain('nothing of it was sent');
    kit.provider.clock.advance(5_000);
    const url = 'https://receiver.example/moved';
    await kit.provider.partnerCall(key, `PATCH /v1/partner/webhooks/${endpoint}`, { url });
    const changed = await page();
    expect(changed).toMatch(/The endpoint was changed <time datetime="[^"]+">/);
    expect(changed).toContain('POST /moved HTTP/1.1');
    await act(browser, `/sandbox/endpoints/${endpoint}`, { action: 'remove' });
    const gone = await page();
    expect(gone).toContain('What was sent is not known any more');
    expect(gone).not.toContain('/moved');
  });

  it('on the page of its endpoint links to its request on the page of the event', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    await kit.endpoint(key, '/other');
    await kit.event(key);
    await kit.attempt(failed);
    const list = (await browser.get(`/sandbox/endpoints/${endpoint}`)).text;
    const [href = '', anchor = ''] = /href="([^"#]+)#([^"]+)">What was sent/.exec(list)?.slice(1) ?? [];
    const { text } = await browser.get(href);
    expect(text).toContain(`id="${anchor}"`);
    expect(text.match(/class="delivery"/g)).toHaveLength(1);
    expect(text).toMatch(/Only deliveries to .*receiver\.example\/hook/);
    expect(
      (await browser.get(href.replace(endpoint, 'nonsense'))).text.match(/class="delivery"/g),
    ).toHaveLength(2);
  });

  it('shows a short response, and links to a long one, which needs a test mode session of its partner', async () => {
    const { kit, key, browser } = await visited();
    await kit.endpoint(key);
    const id = await kit.event(key);
    const response = 'one answer '.repeat(1_400);
    await kit.attempt({ error: 'status', httpStatus: 500, response });
    kit.provider.clock.advance(60_000);
    await kit.attempt({ error: 'status', httpStatus: 502, response: 'x'.repeat(1_025) });
    kit.provider.clock.advance(300_000);
    await kit.attempt({ error: 'status', httpStatus: 503, response: 'y'.repeat(1_024) });
    const { text } = await browser.get(`/sandbox/events/${id}`);
    expect(text).not.toContain('one answer');
    expect(text).toContain('y'.repeat(1_024));
    expect(text).toContain('What it answered (the first 15,400 bytes)');
    const links = answerLinks(text);
    expect(links).toHaveLength(2);
    const [first = '', second = ''] = await Promise.all(
      links.map(async (link) => (await browser.get(link)).text),
    );
    expect(first).toContain(response);
    expect(second).toContain('x'.repeat(1_025));
    expect(second).toContain('Answer to attempt 2');
    expect(second).toContain(`/sandbox/events/${id}#dl_`);

    const [link = ''] = links;
    const other = await kit.signedIn(await kit.key());
    expect((await other.get(link)).status).toBe(404);
    const stranger = await kit.provider.browser(null).get(link);
    expect([stranger.status, target(stranger)]).toEqual([303, '/sandbox']);
    const asked = async (changed: string) => (await browser.get(changed)).status;
    expect(await asked(link.replace('attempt=1', 'attempt=4'))).toBe(404);
    expect(await asked(link.replace('attempt=1', 'attempt=x'))).toBe(400);
    expect(await asked(link.replace('?attempt=1', ''))).toBe(400);
    expect(await asked(link.replace(/dl_[^/]+/, 'dl_1'))).toBe(404);
  });

  it('says that a response of which only the first KiB was kept is cut off', async () => {
    const { kit, key, browser } = await visited();
    await kit.endpoint(key);
    for (const [bytes, title] of [
      [1_020, 'What it answered (1,020 bytes)'],
      [1_021, 'What it answered (the first 1,021 bytes)'],
      [1_024, 'What it answered (the first 1,024 bytes)'],
    ] as const) {
      const event = await kit.event(key);
      await kit.attempt({ response: 'x'.repeat(bytes) });
      expect((await browser.get(`/sandbox/events/${event}`)).text).toContain(title);
    }
  });

  it('never shows the response to an attempt in live mode', async () => {
    const { kit, key, browser } = await visited();
    const live = await kit.provider.key({ mode: 'live', partner: key.partner });
    await kit.endpoint(live);
    const { id } = (await kit.provider.partnerCall(live, 'POST /v1/partner/payments', payment)).json();
    await kit.provider.ostiary.worker.runDue();
    const response = 'of live mode';
    await kit.attempt({ error: 'status', httpStatus: 500, response });
    const all = { endpointId: null, eventId: null, status: null, after: null, limit: 9 };
    const [delivery] = await kit.storage.deliveries.list({ partner: key.partner, mode: 'live', ...all });
    expect([typeof id, delivery?.attempts.length]).toEqual(['string', 1]);
    expect((await browser.get(`/sandbox/deliveries/${delivery?.id}/answer?attempt=1`)).status).toBe(404);
  });

  it('does not enlarge its page with large responses', async () => {
    const { kit, key, browser } = await visited();
    for (let number = 0; number < 10; number += 1) await kit.endpoint(key, `/${number}`);
    const sizeWith = async (response: string) => {
      const id = await kit.event(key);
      for (let number = 0; number < 5; number += 1) {
        await kit.attempt({ error: 'status', httpStatus: 500, response }, number < 4 ? 'retry' : 'dropped');
        kit.provider.clock.advance(60_000);
      }
      return (await browser.get(`/sandbox/events/${id}`)).text.length;
    };
    const [small, large] = [await sizeWith('x'), await sizeWith('<&"'.repeat(5_000))];
    expect(large - small).toBeLessThan(2_000);
  });

  it('makes the same number of storage calls for any number of attempts', async () => {
    const { kit, key, browser } = await visited();
    const statements = async (id: string) => {
      let calls = 0;
      const { events, deliveries, webhooks } = kit.storage;
      for (const store of [events, deliveries, webhooks]) {
        for (const [name, method] of Object.entries(store)) {
          if (typeof method !== 'function' || name === 'within') continue;
          Object.assign(store, {
            [name]: (...given: unknown[]) => {
              calls += 1;
              return Reflect.apply(method, store, given);
            },
          });
        }
      }
      await browser.get(`/sandbox/events/${id}`);
      return calls;
    };
    const few = await kit.event(key);
    const counted = await statements(few);
    for (let count = 0; count < 9; count += 1) await kit.endpoint(key, `/${count}`);
    const many = await kit.event(key);
    await kit.attempt(failed);
    // The number of statements does not grow with the number of attempts.
    expect(await statements(many)).toBe(counted);
    expect(counted).toBeGreaterThan(3);
  });
});

describe('a page with scripts', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  it('copies by mouse and by keyboard, announces it, and counts down without announcements', async () => {
    const { kit, key } = await visited();
    await kit.endpoint(key);
    const message = '</pre><b>\u202e$HOME \'"`';
    const trigger = { type: 'webhook.test', data: { message } };
    const { id } = (await kit.provider.partnerCall(key, 'POST /v1/partner/sandbox/events', trigger)).json();
    await kit.attempt(failed);
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.goto(`${kit.provider.origin}/sandbox`);
    await page.getByLabel('Test API key').fill(key.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    await page.goto(`${kit.provider.origin}/sandbox/events/${id}`);

    await page.getByText('What was sent with attempt 1').click();
    await page.getByRole('button', { name: 'Copy Attempt 1 as curl' }).click();
    await page.getByRole('status').filter({ hasText: 'Copied.' }).waitFor();
    const stored = await kit.storage.events.find({ partner: key.partner, mode: 'test' }, String(id));
    // The copied text has the original characters, not the replacements that the page shows.
    expect(await clipboard()).toContain(stored?.body.replaceAll("'", "'\\''"));

    await page.getByText('Trigger this event').first().click();
    await page.getByRole('button', { name: 'Copy Trigger this event: @ostiary/client-sdk' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(clipboard).toContain('ostiary.sandbox.triggerEvent({');
    expect(await clipboard()).toContain("process.env.OSTIARY_API_KEY ?? ''");
    expect(await clipboard()).not.toContain(key.key);

    const left = page.locator('[data-left]').first();
    const text = await left.textContent();
    expect(text).toMatch(/^\(?in (1 minute|\d+ seconds)/);
    await expect.poll(() => left.textContent()).not.toBe(text);
    expect(
      await left.evaluate((element) => element.closest('[aria-live], [role=status], [role=timer]')),
    ).toBeNull();

    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))");
    await page.getByRole('button', { name: 'Copy Trigger this event: curl' }).click();
    await page.getByRole('status').filter({ hasText: 'The text is selected' }).waitFor();
    expect(await page.evaluate<string>('String(getSelection())')).toContain('$OSTIARY_API_KEY');
    await context.close();
  });

  it('has no useless buttons without scripts', async () => {
    const { kit, key } = await visited();
    const id = await kit.event(key);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${kit.provider.origin}/sandbox`);
    await page.getByLabel('Test API key').fill(key.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    await page.goto(`${kit.provider.origin}/sandbox/events/${id}`);
    await page.getByText('Trigger this event').first().click();
    await page.locator('#call-trigger pre').first().waitFor();
    expect(await page.getByRole('button', { name: /^Copy/ }).count()).toBe(0);
    await context.close();
  });
});
