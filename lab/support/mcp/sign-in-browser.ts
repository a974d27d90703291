import { Browser } from '../../../examples/demo/src/walkthrough/browser.ts';

/** Maximum number of pages of one sign-in. */
const mostPages = 6;

/**
 * A browser without a window, whose user types the same values into every login form and approves all
 * requests.
 */
export class SignInBrowser {
  /** Consent pages that the user saw, as HTML. */
  readonly consentPages: string[] = [];
  readonly #browser = new Browser();
  readonly #typed: Readonly<Record<string, string>>;

  /** @param typed - values for the login form, by field */
  constructor(typed: Readonly<Record<string, string>> = { name: 'ana' }) {
    this.#typed = typed;
  }

  /**
   * Opens an authorization request, signs in and approves the request. Returns the URL of the callback.
   * @returns the redirect URI with the response
   * @throws Error with the page at which the sign-in stopped
   */
  async walk(url: string, redirectUri: string): Promise<URL> {
    const isCallback = (location: string) => location.startsWith(`${redirectUri}?`);
    let page = await this.#browser.follow(await this.#browser.open(url), isCallback);
    for (let count = 0; count < mostPages && page.location === null; count += 1) {
      const [form] = page.forms;
      if (form === undefined) break;
      const isConsent = form.buttons.some(({ name }) => name === 'decision');
      if (isConsent) this.consentPages.push(page.html);
      const input = isConsent ? { decision: 'approve' } : this.#typed;
      page = await this.#browser.follow(await this.#browser.submit(page, form, input), isCallback);
    }
    if (page.location === null)
      throw new Error(`the sign-in stopped with ${page.status}: ${page.html.slice(0, 300)}`);
    return new URL(page.location);
  }
}
