import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import type { Page } from '../../src/pages/layout.ts';
import { afterwards } from '../support/running.ts';
import { startPagesServer } from './pages-server.ts';
import { apps, consent, everyPage, failure, languages, someNew } from './views.ts';

const browser = await launchBrowser();
afterwards(() => browser.close());
const server = await startPagesServer();
const tab = await browser.newPage();

const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [360, 1280].map((width) => ({ colorScheme, width })),
);

// The one thing that axe may leave open: the letter of a monogram. Its colours are measured in
// colour.test.ts.
const isSingleLetter = ({ any }: axe.NodeResult): boolean =>
  any.some(({ data }) => data?.messageKey === 'shortTextContent');

/** What axe found wrong, or could not judge, on the page that is shown. */
async function findings(): Promise<string[]> {
  const results = await tab.evaluate<axe.AxeResults>('axe.run(document)');
  // A page without rules that apply would pass for the wrong reason.
  expect(results.passes.length).toBeGreaterThan(15);
  return [...results.violations, ...results.incomplete].flatMap(({ id, nodes }) =>
    nodes
      .filter((node) => !isSingleLetter(node))
      .map(({ html, any }) => `${id}: ${html} ${any.map(({ message }) => message).join()}`),
  );
}

/** Shows a page once, and then each look of it. */
async function eachLook(page: Page, see: (width: number, look: string) => Promise<void>): Promise<void> {
  await tab.goto(server.show(page));
  for (const { colorScheme, width } of looks) {
    await tab.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await tab.setViewportSize({ width, height: 800 });
    await see(width, `${colorScheme} at ${width}`);
  }
}

async function examine(page: Page): Promise<void> {
  await eachLook(page, async (width, look) => {
    if (!(await tab.evaluate('"axe" in window'))) await tab.evaluate(axe.source);
    expect(await findings(), look).toEqual([]);
    expect(await tab.evaluate('document.documentElement.scrollWidth'), `${look}: width`).toBe(width);
  });
}

describe.each(languages)('in %s', (language) => {
  it.each(Object.entries(everyPage))('%s has no barrier and never scrolls sideways', async (_name, view) => {
    await examine(view(language));
  });
});

it.each(['#ffffff', '#000000', '#ffff00', '#777777', '#e01b24'])(
  'the theme colour %s makes no barrier',
  async (colour) => {
    await examine(consent('en', { theme: { name: 'Kòb', colour }, scopes: someNew }));
  },
);

it('names without a space in them do not widen the page', async () => {
  const long = 'w'.repeat(120);
  await examine(
    consent('fr', {
      clientName: long,
      userName: long,
      redirectHost: `${long}.example`,
      theme: { name: 'W'.repeat(60), colour: '#1a4f8b' },
    }),
  );
  await examine(apps('fr', { userName: long, notice: 'revoked' }));
  await examine(failure('fr', 'internal', long));
});

it('the page shows the colours that the reader asked for', async () => {
  const canvases = new Set<unknown>();
  await eachLook(consent('en'), async () => {
    canvases.add(await tab.evaluate('getComputedStyle(document.body).backgroundColor'));
  });
  expect([...canvases]).toEqual(['rgb(243, 244, 247)', 'rgb(13, 16, 20)']);
});
