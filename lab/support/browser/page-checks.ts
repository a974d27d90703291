import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { ElementHandle, Page } from 'playwright-core';
import { expect } from 'vitest';

const images = resolve(import.meta.dirname, '../../../docs/images');

/** Saves a screenshot for the documentation, if `npm run screenshots` runs the tests. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.TEST_SCREENSHOTS === undefined) return;
  // On a page that is scrolled, the navigation at the side would be in the middle of the picture.
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(images, `${name}.png`), fullPage: true });
}

/**
 * Runs axe (an accessibility checker) on a page. Returns the number of passed rules, the violations, and the
 * undecided checks.
 */
export async function examine(page: Page) {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
    // Skip the details of passed checks: describing and transferring them would take half of the time.
    const { passes, violations, incomplete } = await run({ resultTypes: ['violations', 'incomplete'] });
    return { kept: passes.length, violations, incomplete };
  });
}

/** Returns the accessibility violations that axe finds on a page, or one entry if axe checked next to nothing. */
export async function violations(page: Page): Promise<string[]> {
  const result = await examine(page);
  if (result.kept < 15) return [`${page.url()}: axe looked at next to nothing`];
  return result.violations.map(({ id, nodes }) => `${page.url()}: ${id}: ${nodes[0]?.html}`);
}

/** Checks whether a page is wider than the window, so that the page would scroll sideways. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

/** Checks that a page is accessible, and not wider than the window. */
export async function expectGood(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
}

/**
 * Checks a page in dark colours on a phone and in light colours on a wide screen; the colours do not depend
 * on the width. With a name, the light version is saved as a screenshot.
 */
async function checkColours(page: Page, name: string | null = null): Promise<void> {
  const width = page.viewportSize()?.width;
  // Reduce motion, because colours in a transition between the schemes have hardly any contrast.
  await page.emulateMedia({ colorScheme: width === 360 ? 'dark' : 'light', reducedMotion: 'reduce' });
  await expectGood(page);
  await page.emulateMedia({ colorScheme: 'light' });
  if (name !== null) await picture(page, `${name}-${width}`);
}

/**
 * Checks a page on a wide screen and then on a phone, on which the test continues; see {@link checkColours}.
 */
export async function lookSmallAndWide(page: Page, name: string | null = null): Promise<void> {
  const { height = 800 } = page.viewportSize() ?? {};
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height });
    await checkColours(page, name);
  }
}

/** Presses a key until the focus is on an element with the given text or label. */
export async function pressUntil(page: Page, key: string, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 300; presses += 1) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
      const label = isField ? element.labels?.[0]?.textContent : '';
      return `${element?.textContent ?? ''} ${label ?? ''}`;
    });
    if (name.test(focused.trim())) return;
  }
  throw new Error(`${name} is out of the keyboard's reach`);
}

/**
 * Waits for a visible link, button, field or summary with the given text or label, and returns it: the first
 * one after the focused control or, if there is none, the first one of the page.
 */
export async function controlOf(page: Page, name: RegExp): Promise<ElementHandle<Element>> {
  const control = await page.waitForFunction(
    ({ source, flags }) => {
      const pattern = new RegExp(source, flags);
      const controls = [...document.querySelectorAll('a, button, summary, input, select, textarea')];
      const named = controls.filter((element) => {
        const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
        const label = isField ? (element.labels?.[0]?.textContent ?? '') : '';
        return pattern.test(`${element.textContent ?? ''} ${label}`.trim()) && element.checkVisibility();
      });
      const focused = document.activeElement;
      const isBehind = (element: Element): boolean =>
        focused !== null &&
        (focused.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
      return named.find(isBehind) ?? named[0] ?? null;
    },
    { source: name.source, flags: name.flags },
  );
  const element = control.asElement();
  if (element === null) throw new Error(`${name}: no such control`);
  return element as ElementHandle<Element>;
}
