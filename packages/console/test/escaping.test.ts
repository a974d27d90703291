import { render, visible } from '@ostiary/core/pages';
import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../lab/support/browser/browser.ts';
import { foreignText, visibleText } from '../src/parts.ts';
import { answerLinks, consoleKit } from './console-kit.ts';

const hostile = {
  script: '<script>alert(1)</script><img src=x onerror=alert(1)>',
  'end of the block': '</pre></details></li></ol><form action=https://evil.example><button>Sign in</button>',
  attribute: '" onfocus="alert(1)" autofocus x="',
  comment: '<!-- <![CDATA[ ]]> --> <!doctype html><base href=https://evil.example>',
  entities: '&lt;b&gt;&#x3c;script&#x3e;&amp;',
  'right to left': 'safe \u202egpj.exe\u202c \u2066\u2067x\u2069 \u200f',
  zero: 'a\0b\u0007c\u001b[31md\u007f',
  'half of a pair': 'a\ud800b\udc00c',
  'combining marks': `z${'\u0301'.repeat(500)}`,
  'line separators': 'a\u2028b\u2029c\u0085d',
  'a template': '#{7*7} {{7*7}} `x`',
};

describe('the response of an endpoint', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  it.each([
    ['in the page', ''],
    ['on a page of its own', 'x'.repeat(1024)],
  ])('is shown as text %s, whatever it is, and runs, loads and reorders nothing', async (where, fill) => {
    const kit = await consoleKit();
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    const context = await browser.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('dialog', (dialog) => complaints.push(dialog.message()));
    page.on('request', (request) => {
      if (!request.url().startsWith(kit.provider.origin)) complaints.push(request.url());
    });
    await page.goto(`${kit.provider.origin}/sandbox`);
    await page.getByLabel('Test API key').fill(key.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Events', exact: true }).waitFor();
    complaints.length = 0;
    const answers = Object.entries(hostile)
      .map(([name, response]) => [name, response + fill] as const)
      .filter(([, response]) => fill !== '' || Buffer.byteLength(response) <= 1024);
    // As many as a page shows, latest first.
    for (const shownAtOnce of [answers.slice(0, 10), answers.slice(10)]) {
      for (const [, response] of shownAtOnce) {
        await kit.event(key);
        await kit.attempt({ response, error: 'status', httpStatus: 418 }, 'dropped');
        kit.provider.clock.advance(1_000);
      }
      await page.goto(`${kit.provider.origin}/sandbox/endpoints/${endpoint}`);
      const list = page.url();
      for (const [index, [name, response]] of shownAtOnce.toReversed().entries()) {
        const delivery = page.locator('.delivery').nth(index);
        if (where !== 'in the page') await delivery.locator('a[href*="/answer?"]').click();
        const shown = where === 'in the page' ? delivery.locator('pre') : page.locator('pre');
        const text = await shown.textContent();
        expect.soft([name, await shown.locator('*').count()]).toEqual([name, 0]);
        expect.soft([name, text]).not.toEqual([name, '']);
        expect.soft([name, /[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(text ?? '')]).toEqual([name, false]);
        const printable = /^[\x20-\x7e]*$/.test(response);
        if (printable) expect.soft(text).toBe(response);
        expect(await page.locator('pre script, pre img, pre form, base').count()).toBe(0);
        if (page.url() !== list) await page.goto(list);
      }
    }
    const forms = await page
      .locator('form')
      .evaluateAll((all) => all.map((form) => form.getAttribute('action')));
    expect(forms.filter((action) => !action?.startsWith(kit.provider.origin))).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is shown in a box that scrolls, and does not widen the page', async () => {
    const kit = await consoleKit();
    const key = await kit.key();
    await kit.endpoint(key);
    const event = await kit.event(key);
    const long = '<>&"\'\n'.repeat(2_731).slice(0, 16 * 1024);
    await kit.attempt({ response: long, error: 'status', httpStatus: 500 });
    const signedIn = await kit.signedIn(key);
    const list = (await signedIn.get(`/sandbox/events/${event}`)).text;
    expect(list).toContain('What it answered (the first 16,384 bytes)');
    const { text } = await signedIn.get(answerLinks(list)[0] ?? '');
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    await page.setContent(text.replace(/<script.*<\/script>/s, ''));
    await page.addStyleTag({ content: (await signedIn.get('/sandbox/style.css')).text });
    const shown = page.locator('pre');
    expect(await shown.textContent()).toBe(long);
    const box = await shown.boundingBox();
    expect(box?.height).toBeLessThan(400);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.close();
  });
});

describe('text of many lines from outside', () => {
  it('is the same as its lines one by one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const lines = text.split('\n').map((line) => line.split('\t').map(visible).join('\t'));
        expect(visibleText(text)).toBe(lines.join('\n'));
      }),
      { examples: [[`e${'\u0301'.repeat(9)}\n\u202ea\0\r\x7f\ud800\t\u2028`]] },
    );
  });

  it('takes about the same time with only line breaks as with letters', () => {
    const [letters = 0, breaks = 0] = ['ab', '\n\t'].map((text) => {
      const startedAt = process.cpuUsage();
      for (let round = 0; round < 50; round += 1) foreignText(text.repeat(8192), 'x');
      return process.cpuUsage(startedAt).user / 1000;
    });
    expect(breaks).toBeLessThan(100 + 5 * letters);
  });

  it('adds no element, and hides no character that a script needs', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const written = render(foreignText(text, 'x'));
        expect(written.replace(/[^<>]/g, '')).toBe('<><>');
        expect(written).not.toMatch(/[\p{Bidi_Control}\p{Cs}\0]/u);
      }),
    );
    expect(render(foreignText('\na\tb\r\nc\rd\u200d\u200c', 'x'))).toContain(
      '>\n\na\tb\nc\nd\u200d\u200c</pre>',
    );
  });
});

describe('data of an event', () => {
  it('is escaped everywhere', async () => {
    const kit = await consoleKit();
    const key = await kit.key();
    const message = '</pre><script>alert(1)</script>\u202e';
    const answer = await kit.provider.partnerCall(key, 'POST /v1/partner/sandbox/events', {
      type: 'webhook.test',
      data: { message },
    });
    const { text } = await (await kit.signedIn(key)).get(`/sandbox/events/${answer.json().id}`);
    expect(text).toContain('&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\ufffd');
    expect(text.match(/<script/g)).toHaveLength(1);
  });
});
