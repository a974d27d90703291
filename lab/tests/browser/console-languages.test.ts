import { operatorsConsole } from '@ostiary/console';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { scrollsSideways, violations } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { secret, startConsole } from './console-pages.ts';

/** Finds texts and controls of a page that overlap. Texts that only screen readers see are left out. */
const overlaps = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: { readonly node: Node; readonly name: string; readonly box: DOMRect }[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node instanceof Element ? node : node.parentElement;
      if (element === null || element.closest('.hidden, script, option') !== null) continue;
      // An element that scrolls may contain more than is visible.
      const isText = node instanceof Text && node.data.trim() !== '' && element.closest('pre') === null;
      if (!isText && !(node instanceof Element && node.matches('input, select, textarea, svg, pre, .bead')))
        continue;
      const range = document.createRange();
      range.selectNode(node);
      for (const box of node instanceof Element ? [node.getBoundingClientRect()] : range.getClientRects())
        found.push({ node, name: (node instanceof Text ? node.data : element.outerHTML).slice(0, 60), box });
    }
    const within = (one: number, other: number, oneEnd: number, otherEnd: number) =>
      Math.min(oneEnd, otherEnd) - Math.max(one, other);
    return found.flatMap(({ node, name, box }, index) =>
      found.slice(index + 1).flatMap((other) => {
        if (node === other.node || node.contains(other.node)) return [];
        const wide = within(box.left, other.box.left, box.right, other.box.right);
        const high = within(box.top, other.box.top, box.bottom, other.box.bottom);
        // Adjacent lines may touch.
        return wide > 2 && high > 5 ? [`${name} | ${other.name}`] : [];
      }),
    );
  });

/** Finds texts with so little room that a line has only one or two letters. */
const squeezed = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('main dt, main dd, main p, main span, main button, main a')].flatMap(
      (element) => {
        const { width, height } = element.getBoundingClientRect();
        return element.textContent !== '' && width < 50 && height > 80
          ? [element.outerHTML.slice(0, 80)]
          : [];
      },
    ),
  );

describe('the console in its languages, in a real browser', () => {
  let provider: TestProvider;
  let browser: Browser;
  let pages: readonly (readonly [name: string, path: string])[];
  let key: string;

  beforeAll(async () => {
    const started = await startConsole(
      (request, response) => {
        request.resume();
        response.writeHead(500).end('{"error":"broken"}');
      },
      {
        operators: { authenticate: () => ({ name: 'ana@example.com' }), pages: operatorsConsole() },
        webhooks: { retryDelaysSeconds: [1800] },
      },
    );
    ({ provider, browser } = started);
    const given = await provider.key({ mode: 'test', partner: await provider.partner('rara-market') });
    key = given.key;
    const url = started.urlOf(`/${'a-long-path/'.repeat(8)}`);
    const { id } = (
      await provider.partnerCall(given, 'POST /v1/partner/webhooks', {
        ...{ url, events: ['*'], secret },
      })
    ).json();
    const event = (
      await provider.partnerCall(given, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' })
    ).json();
    pages = [
      ['home', '/sandbox'],
      ['tools', '/sandbox/tools'],
      ['endpoint', `/sandbox/endpoints/${id}`],
      ['event', `/sandbox/events/${event.id}`],
      ['new-endpoint', '/sandbox/endpoints'],
      ['edit-endpoint', `/sandbox/endpoints/${id}/edit`],
      ['secret', `/sandbox/endpoints/${id}/secret`],
      ['requests', '/sandbox/requests'],
      ['overview', '/operators'],
      ['partner', '/operators/partners/rara-market'],
      ['keys', '/operators/partners/rara-market/keys'],
      ['webhooks', '/operators/partners/rara-market/webhooks?mode=test&status=every'],
      ['new-client', '/operators/new-client'],
      ['audit', '/operators/audit'],
      ['signing-keys', '/operators/signing-keys'],
      ['upkeep', '/operators/upkeep'],
      ['user', '/operators/user?sub=u-1'],
    ];
    return () => browser.close();
  });

  /** Signs in a partner who prefers a language and whose delivery has failed once. */
  async function visitor(language: string, width: number) {
    const profile = await newProfile(browser, {
      ...{ viewport: { width, height: 800 }, reducedMotion: 'reduce' },
      extraHTTPHeaders: { 'accept-language': language },
    });
    const { page } = profile;
    await page.goto(`${provider.origin}/sandbox`);
    await page.locator('input[name=key]').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('.bar').waitFor();
    await page.goto(provider.origin + pathOf('endpoint'));
    await page.locator('.bead.bad').waitFor();
    return profile;
  }

  const pathOf = (name: string): string => pages.find(([one]) => one === name)?.[1] ?? '';

  async function open(page: Page, path: string): Promise<void> {
    await page.goto(provider.origin + path);
    await page.locator('details').evaluateAll((all) => {
      for (const each of all) each.setAttribute('open', '');
    });
  }

  async function look(page: Page, name: string): Promise<string[]> {
    return [
      ...((await scrollsSideways(page)) ? ['scrolls sideways'] : []),
      ...(await squeezed(page)).map((text) => `squeezed: ${text}`),
      ...(await overlaps(page)).map((pair) => `overlaps: ${pair}`),
    ].map((problem) => `${name}: ${problem}`);
  }

  // Other tests check the English pages. axe's rules do not depend on the language.
  it.each(['fr', 'ht', 'es', 'pt'])(
    'in %s: the widest pages fit into 360 pixels and are accessible, and seconds are counted',
    async (language) => {
      const { page, complaints } = await visitor(language, 360);
      const problems: string[] = [];
      for (const name of ['home', 'tools', 'endpoint', 'overview']) {
        await open(page, pathOf(name));
        expect(await page.locator('html').getAttribute('lang')).toBe(language);
        problems.push(...(await look(page, `${name}-${language}`)));
        if (language === 'fr') problems.push(...(await violations(page)));
      }
      expect(problems).toEqual([]);
      await open(page, pathOf('endpoint'));
      const left = await page.locator('[data-left]:not([data-plain])').first().textContent();
      // Browsers do not know Haitian Creole, and format its times as in French.
      expect(left).toMatch(/^\(\d+\smin \d+\ss\)$/);
      expect(complaints).toEqual([]);
    },
    60_000,
  );

  it('from right to left, small and wide, every page fits, and nothing lies upon something else', async () => {
    // The language with the longest words.
    const { page } = await visitor('fr', 360);
    const turn = () => page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'));
    const problems: string[] = [];
    for (const [name, path] of pages) {
      await open(page, path);
      await turn();
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        problems.push(...(await look(page, `rtl-${name}-${width}`)));
      }
    }
    expect(problems).toEqual([]);
    const places = () =>
      page
        .locator('.timeline li')
        .first()
        .evaluate((item) => {
          const place = (part: string) => item.querySelector(part)?.getBoundingClientRect() ?? new DOMRect();
          return { bead: place('.bead'), rail: place('.rail'), text: place('.facts') };
        });
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await open(page, pathOf('endpoint'));
      const before = await places();
      expect(before.bead.right).toBeLessThan(before.text.left);
      await turn();
      const { bead, rail, text } = await places();
      expect(bead.left).toBeGreaterThan(text.right);
      expect(Math.abs(rail.left + rail.width / 2 - bead.left - bead.width / 2)).toBeLessThan(2);
    }
  }, 60_000);
});
