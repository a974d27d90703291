import type { TestBrowser } from './browser.ts';
import type { TestClient, TestProvider } from './provider.ts';

/** A consent page and its form in a browser. */
export type ConsentPage = Awaited<ReturnType<typeof showConsent>>;

/** Starts an authorization request that must end at the consent page, and shows the page. */
export async function openConsent(
  provider: TestProvider,
  client: TestClient,
  changes: Record<string, string | undefined> = {},
  browser = provider.browser(),
): Promise<ConsentPage> {
  const { location, outcome } = await browser.get(provider.authorizeUrl(client, changes));
  if (location === null || outcome !== '303 interaction') throw new Error(`no consent page but ${location}`);
  return showConsent(browser, location);
}

/** Shows the consent page of an interaction. */
export async function showConsent(browser: TestBrowser, address: string) {
  const answer = await browser.get(address);
  const { status, text } = answer;
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1];
  if (status !== 200 || csrf === undefined)
    throw new Error(`no consent page but ${status}: ${text.slice(0, 200)}`);
  const items = [...text.matchAll(/<span class="title">(.*?)<\/span> <span class="detail">/gs)].map(
    (match) => match[1] ?? '',
  );
  const badge = /\s*<span class="badge">.*$/s;
  const path = new URL(address).pathname;
  /** Submits the form of the consent page, with its CSRF token unless the given fields have another. */
  const post = (form: Record<string, string>, headers?: Record<string, string>) =>
    browser.post(address, { csrf, ...form }, headers);
  const approve = (headers?: Record<string, string>) => post({ decision: 'approve' }, headers);
  return {
    ...{ browser, address, path, answer, text, csrf, post, approve },
    /** Id of the interaction that the page belongs to. */
    id: path.split('/').at(-1) ?? '',
    resume: `${path}/resume`,
    /** Titles of the scopes on the page, in order. */
    titles: items.map((item) => item.replace(badge, '')),
    marked: items.filter((item) => badge.test(item)).map((item) => item.replace(badge, '')),
    deny: () => post({ decision: 'deny' }),
    /** Approves on the consent page, and follows the redirects to the client. */
    async finish() {
      const approved = await approve();
      return approved.location === null ? approved : browser.get(approved.location);
    },
  };
}
