import { Browser, type Page } from '../../../demo/src/walkthrough/browser.ts';
import './ask.ts';

/** Result of a user's visit with a browser. */
export interface Visit {
  /** Parameters of the callback, or `null` if the browser did not return to the app. */
  readonly callback: URLSearchParams | null;
  /** Current page of the browser, or the last redirect. */
  readonly page: Page;
  /** Numbers of sign-ins and consent decisions during the visit. */
  readonly logins: number;
  readonly consents: number;
}

/** A browser together with its user: follows redirects, signs in, and approves wherever a page asks. */
export class UserAgent {
  readonly #origin: string;
  readonly #redirectUri: string;
  readonly #username: string;
  readonly #browser = new Browser();

  constructor(origin: string, redirectUri: string, username: string) {
    this.#origin = origin;
    this.#redirectUri = redirectUri;
    this.#username = username;
  }

  #post(action: string, fields: Record<string, string>): Promise<Page> {
    return this.#browser.submit({ url: this.#origin }, { action, fields }, {});
  }

  /**
   * Opens a URL, or posts a form to it, and acts as the user until the browser returns to the app, or shows a
   * page that asks for nothing.
   */
  async visit(url: string, posted?: Record<string, string>): Promise<Visit> {
    let [logins, consents] = [0, 0];
    let page = await (posted === undefined ? this.#browser.open(url) : this.#post(url, posted));
    for (let step = 0; step < 20; step += 1) {
      page = await this.#browser.follow(page, (location) => location.startsWith(`${this.#redirectUri}?`));
      if (page.location !== null)
        return { callback: new URL(page.location).searchParams, page, logins, consents };
      const login = page.forms.find(({ fields }) => 'username' in fields);
      const consent = page.forms.find(({ buttons }) => buttons.some(({ name }) => name === 'decision'));
      if (login !== undefined) {
        logins += 1;
        page = await this.#browser.submit(page, login, { username: this.#username });
      } else if (consent !== undefined) {
        consents += 1;
        page = await this.#browser.submit(page, consent, { decision: 'approve' });
      } else {
        return { callback: null, page, logins, consents };
      }
    }
    throw new Error(`the browser goes in circles at ${page.url}`);
  }
}
