import type { Answer, TestBrowser } from '../support/browser.ts';
import type { TestClient, TestProvider } from '../support/provider.ts';

/** A consent page that is open in a browser. */
export interface OpenPage {
  /** The page's absolute address, where its form goes too. */
  readonly url: string;
  readonly path: string;
  readonly id: string;
  readonly csrf: string;
  readonly answer: Answer;
}

/** Opens the consent page of a new authorization request and leaves it open. */
export async function openConsent(
  provider: TestProvider,
  browser: TestBrowser,
  client: TestClient,
  changes: Record<string, string | undefined> = {},
): Promise<OpenPage> {
  const { location } = await browser.get(provider.authorizeUrl(client, changes));
  const url = location ?? '';
  const answer = await browser.get(url);
  const csrf = /name="csrf" value="([^"]+)"/.exec(answer.text)?.[1];
  if (csrf === undefined)
    throw new Error(`no consent page but ${answer.status}: ${answer.text.slice(0, 200)}`);
  const path = new URL(url).pathname;
  return { url, path, id: path.split('/').at(-1) ?? '', csrf, answer };
}

/** Posts the approval of an open page. */
export function approve(
  browser: TestBrowser,
  page: OpenPage,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return browser.post(page.url, { csrf: page.csrf, decision: 'approve' }, headers);
}

/** The parameters that an answer sends to a client, `null` for an answer that stays here. */
export function callbackOf(answer: Answer, client: TestClient): URLSearchParams | null {
  return answer.location?.startsWith(client.redirectUri) === true
    ? new URL(answer.location).searchParams
    : null;
}

/** Approves and follows the way back to the client. */
export async function approveToEnd(
  browser: TestBrowser,
  page: OpenPage,
  client: TestClient,
): Promise<URLSearchParams> {
  const { location, status } = await approve(browser, page);
  if (location === null) throw new Error(`the approval was answered with ${status}`);
  const callback = callbackOf(await browser.get(location), client);
  if (callback === null) throw new Error('the browser did not come back to the client');
  return callback;
}

/** The connected apps of a user with their forms, read off the page: client id to token. */
export function appForms(page: string): Map<string, string> {
  const forms = page.matchAll(
    /action="[^"]*\/account\/apps\/([^/"]+)\/revoke">\s*<input type="hidden" name="csrf" value="([^"]+)"/g,
  );
  return new Map([...forms].map(([, clientId = '', csrf = '']) => [clientId, csrf]));
}
