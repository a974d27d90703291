import type { Answer, TestBrowser } from './browser.ts';
import type { TestClient, TestProvider } from './provider.ts';

/** A consent page as a browser shows it. */
export interface ConsentPage {
  readonly address: string;
  readonly text: string;
  readonly csrf: string;
  /** Titles of the scopes, in order. */
  readonly titles: readonly string[];
  /** Those of them that are marked as new. */
  readonly marked: readonly string[];
}

/** Starts an authorization request that has to end at the consent page, and shows the page. */
export async function openConsent(
  provider: TestProvider,
  client: TestClient,
  changes: Record<string, string> = {},
  browser = provider.browser(),
): Promise<ConsentPage> {
  const { location } = await browser.get(provider.authorizeUrl(client, changes));
  if (location === null || !location.includes('/oauth/interaction/'))
    throw new Error(`no consent page but ${location}`);
  return showConsent(browser, location);
}

/** Shows the consent page of an interaction. */
export async function showConsent(browser: TestBrowser, address: string): Promise<ConsentPage> {
  const { status, text } = await browser.get(address);
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1];
  if (status !== 200 || csrf === undefined)
    throw new Error(`no consent page but ${status}: ${text.slice(0, 200)}`);
  const items = [...text.matchAll(/<span class="title">(.*?)<\/span> <span class="detail">/gs)].map(
    (match) => match[1] ?? '',
  );
  const badge = /\s*<span class="badge">.*$/s;
  return {
    address,
    text,
    csrf,
    titles: items.map((item) => item.replace(badge, '')),
    marked: items.filter((item) => badge.test(item)).map((item) => item.replace(badge, '')),
  };
}

/** Answers a consent page and follows to where the browser leaves the provider. */
export async function answerConsent(
  provider: TestProvider,
  browser: TestBrowser,
  page: ConsentPage,
  decision: 'approve' | 'deny' = 'approve',
): Promise<Answer> {
  const answer = await browser.post(page.address, { csrf: page.csrf, decision });
  return answer.location === null ? answer : provider.follow(browser, answer.location, decision);
}
