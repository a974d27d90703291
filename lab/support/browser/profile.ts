import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** A browser profile with one page, which is closed after the test. */
export interface Profile {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Origins to which the browser profile has sent requests. */
  readonly asked: ReadonlySet<string>;
  /**
   * Errors in the browser's console, for example about a violated content security policy, and of scripts.
   */
  readonly complaints: readonly string[];
}

/** Opens a new browser profile with one page. */
export async function newProfile(browser: Browser, options: BrowserContextOptions = {}): Promise<Profile> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(40_000);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const asked = new Set<string>();
  const complaints: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:') asked.add(origin);
  });
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(error.message));
  return { context, page, asked, complaints };
}
