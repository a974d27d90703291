import type { Answer, TestBrowser } from './browser.ts';
import type { TestClient, TestProvider } from './provider.ts';

/** A consent page as a browser shows it. */
export interface ConsentPage {
  readonly browser: TestBrowser;
  readonly address: string;
  /** Its path, the id of its interaction, and the path of the way back to the client. */
  readonly path: string;
  readonly id: string;
  readonly resume: string;
  readonly answer: Answer;
  readonly text: string;
  readonly csrf: string;
  /** Titles of the scopes, in order. */
  readonly titles: readonly string[];
  /** Those of them that are marked as new. */
  readonly marked: readonly string[];
  /** Posts the form of the page, with its token unless told otherwise. */
  post(form: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
  approve(headers?: Record<string, string>): Promise<Answer>;
  deny(): Promise<Answer>;
  /** Approves, and goes the way back to the client. */
  finish(): Promise<Answer>;
}

/** Starts an authorization request that has to end at the consent page, and shows the page. */
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
export async function showConsent(browser: TestBrowser, address: string): Promise<ConsentPage> {
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
  const post: ConsentPage['post'] = (form, headers) => browser.post(address, { csrf, ...form }, headers);
  const approve: ConsentPage['approve'] = (headers) => post({ decision: 'approve' }, headers);
  return {
    ...{ browser, address, path, answer, text, csrf, post, approve },
    id: path.split('/').at(-1) ?? '',
    resume: path.replace('/interaction/', '/authorize/'),
    titles: items.map((item) => item.replace(badge, '')),
    marked: items.filter((item) => badge.test(item)).map((item) => item.replace(badge, '')),
    deny: () => post({ decision: 'deny' }),
    async finish() {
      const approved = await approve();
      return approved.location === null ? approved : browser.get(approved.location);
    },
  };
}
