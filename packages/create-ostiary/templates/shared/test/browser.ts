/** A page as it came. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly html: string;
  readonly cookies: readonly string[];
}

const decoded = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const attribute = (tag: string, name: string): string =>
  decoded(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/** A cookie jar that follows redirects: enough to sign in without a browser. */
export class TestBrowser {
  readonly #cookies = new Map<string, string>();

  /** Opens an address. Redirects to another origin are not followed, and are the `url` of the page. */
  async open(url: string, form?: Readonly<Record<string, string>>): Promise<Page> {
    const { origin } = new URL(url);
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: {
        Accept: 'text/html',
        Cookie: Array.from(this.#cookies, ([name, value]) => `${name}=${value}`).join('; '),
        // What browsers say of themselves when a form is sent from a page of the same site.
        ...(form !== undefined && { Origin: origin, 'Sec-Fetch-Site': 'same-origin' }),
      },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    });
    const cookies = answer.headers.getSetCookie();
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      const target = new URL(location, url);
      if (target.origin === origin) return this.open(target.href);
      return { url: target.href, status: answer.status, html: '', cookies };
    }
    return { url, status: answer.status, html: await answer.text(), cookies };
  }

  /** Sends the form of a page, with what the user types and presses. */
  async submit(page: Page, typed: Readonly<Record<string, string>>): Promise<Page> {
    const [form = ''] = /<form[^>]*>/.exec(page.html) ?? [];
    const inputs = Array.from(page.html.matchAll(/<input[^>]*>/g), ([tag]) => [
      attribute(tag, 'name'),
      attribute(tag, 'value'),
    ]);
    const action = new URL(attribute(form, 'action'), page.url);
    return this.open(action.href, { ...Object.fromEntries(inputs), ...typed });
  }
}
