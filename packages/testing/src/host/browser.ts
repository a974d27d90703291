import { HTMLElement, parse } from 'node-html-parser';
import type { Fetch } from '../network.ts';

/**
 * A page that a browser shows.
 *
 * @example
 * ```ts
 * const page: TestPage = await kit.browser().open('/account');
 * page.text.includes('Ana');
 * ```
 */
export interface TestPage {
  readonly url: URL;
  readonly status: number;
  /** HTML of the page, or any other response body. */
  readonly text: string;
  /**
   * URL outside the test kit to which the browser is redirected, such as an app's; `null` if there is no such
   * redirect.
   */
  readonly location: URL | null;
}

/** Input of a user on the pages of a sign-in. */
export interface Walk {
  /** Values that the user types, by field name of your forms. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Decision of the user on the consent or logout page. @defaultValue `'approve'` */
  readonly decision?: 'approve' | 'deny';
}

/**
 * A headless browser for the pages of your server: it keeps cookies, follows redirects and fills in forms. It
 * runs no scripts.
 *
 * @example
 * ```ts
 * const browser = kit.browser();
 * await browser.open('/account');
 * await browser.submit({ name: 'ana', password: 'secret' });
 * ```
 */
export interface HostBrowser {
  /**
   * Opens a URL, or a path on `authUrl`, and follows redirects. Stops before a URL outside of the test kit.
   */
  open(url: string | URL): Promise<TestPage>;
  /**
   * Fills in the form that has all of the given fields, and submits it. If a field is the name and value of a
   * button, submits the form with that button.
   * @throws Error if the page has no such form
   */
  submit(fields: Readonly<Record<string, string>>): Promise<TestPage>;
  /**
   * Opens an authorization or logout request and acts as a user would: fills in your sign-in form, and
   * decides on the consent or logout page.
   * @returns the app's URL to which the browser was sent
   * @throws Error with the text of the page at which it had to stop
   */
  walk(url: string | URL, walk?: Walk): Promise<URL>;
}

const mostSteps = 20;

/** Returns the text of a page for an error message. */
function wordsOf({ url, status, text }: TestPage): string {
  const page = parse(text);
  const words = (page.querySelector('body') ?? page).structuredText.replaceAll(/\s+/g, ' ');
  return `${url.pathname} answered ${status}: ${words.replace('<!doctype html>', '').trim().slice(0, 300)}`;
}

/**
 * Returns the elements of a form that match a selector: also those that stand elsewhere on the page and name
 * the form in their attribute `form`.
 */
function elementsOf(form: HTMLElement, selector: string): HTMLElement[] {
  let page = form;
  while (page.parentNode instanceof HTMLElement) page = page.parentNode;
  const within = new Set(form.querySelectorAll(selector));
  return page.querySelectorAll(selector).filter((element) => {
    const owner = element.getAttribute('form');
    return owner === undefined ? within.has(element) : owner === form.getAttribute('id');
  });
}

const namesOf = (form: HTMLElement): (string | undefined)[] =>
  elementsOf(form, '[name]').map((field) => field.getAttribute('name'));

/** Returns the values of a form's buttons with the given name. */
const buttonsOf = (form: HTMLElement, name: string): (string | undefined)[] =>
  elementsOf(form, `button[name="${name}"]`).map((button) => button.getAttribute('value'));

/** Returns the values of inputs and text areas that a form submits if unchanged, without buttons and selects. */
function valuesOf(form: HTMLElement): Record<string, string> {
  const fields = elementsOf(form, 'input[name], textarea[name]').filter((field) => {
    const type = field.getAttribute('type');
    return (
      !['submit', 'button', 'image'].includes(type ?? '') &&
      (!['checkbox', 'radio'].includes(type ?? '') || field.hasAttribute('checked'))
    );
  });
  return Object.fromEntries(
    fields.map((field) => {
      const standard = ['checkbox', 'radio'].includes(field.getAttribute('type') ?? '') ? 'on' : field.text;
      return [field.getAttribute('name') ?? '', field.getAttribute('value') ?? standard];
    }),
  );
}

/** Creates a cookie store by host, path and name. Ignores the port, as browsers do. */
function cookieJar() {
  const kept = new Map<string, { readonly pair: string; readonly host: string; readonly path: string }>();
  return {
    keep(line: string, { hostname, pathname }: URL): void {
      const [pair = '', ...attributes] = line.split(/; */);
      const given = (name: string) =>
        attributes
          .find((attribute) => attribute.toLowerCase().startsWith(`${name}=`))
          ?.slice(name.length + 1);
      const path = given('path') ?? (pathname.replace(/\/[^/]*$/, '') || '/');
      const key = `${hostname} ${path} ${pair.split('=')[0]}`;
      const isOver = Number(given('max-age') ?? 1) <= 0 || Date.parse(given('expires') ?? '') < 86_400_000;
      if (isOver) kept.delete(key);
      else kept.set(key, { pair, host: hostname, path });
    },
    of: ({ hostname, pathname }: URL): string =>
      [...kept.values()]
        .filter(({ host, path }) => host === hostname && `${pathname}/`.startsWith(path.replace(/\/?$/, '/')))
        .map(({ pair }) => pair)
        .join('; '),
  };
}

/** Functions and URLs that the test browser of a host application needs. */
export interface HostBrowserParts {
  readonly send: Fetch;
  readonly authUrl: string;
  readonly origins: readonly string[];
  /** Returns the errors logged since the last call, to explain an error page. */
  readonly logged: () => string;
  readonly languages: readonly string[];
}

export function createHostBrowser({
  send,
  authUrl,
  origins,
  logged,
  languages,
}: HostBrowserParts): HostBrowser {
  const cookies = cookieJar();
  let stand: TestPage | null = null;

  async function go(target: URL, form?: URLSearchParams): Promise<TestPage> {
    let [url, body] = [target, form];
    for (let step = 0; step < mostSteps; step += 1) {
      const response = await send(url, {
        redirect: 'manual',
        headers: {
          accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
          cookie: cookies.of(url),
          ...(languages.length > 0 && { 'accept-language': languages.join() }),
          ...(body && { origin: stand?.url.origin ?? url.origin, 'sec-fetch-site': 'same-origin' }),
        },
        ...(body && { method: 'POST', body }),
      });
      for (const line of response.headers.getSetCookie()) cookies.keep(line, url);
      const text = await response.text();
      const location = response.headers.get('location');
      const next = location === null ? null : new URL(location, url);
      const outside = next !== null && !origins.includes(next.origin) ? next : null;
      if (next === null || outside !== null) {
        stand = { url, status: response.status, text, location: outside };
        return stand;
      }
      // Follow redirects as browsers do. Only 307 and 308 send a form again.
      [url, body] = [next, response.status === 307 || response.status === 308 ? body : undefined];
    }
    throw new Error(`${target.pathname} goes in circles`);
  }

  function sendForm(
    form: HTMLElement,
    at: TestPage,
    fields: Readonly<Record<string, string>>,
  ): Promise<TestPage> {
    const url = new URL(form.getAttribute('action') || at.url, at.url);
    const values = new URLSearchParams({ ...valuesOf(form), ...fields });
    if (form.getAttribute('method')?.toLowerCase() === 'post') return go(url, values);
    url.search = values.toString();
    return go(url);
  }

  const formWith = (page: TestPage, names: readonly string[]): HTMLElement | undefined =>
    parse(page.text)
      .querySelectorAll('form')
      .find((form) => names.every((name) => namesOf(form).includes(name)));

  /**
   * Does the user's next step: decides on the consent or logout page, or fills in the sign-in form. Resolves to
   * the page that follows; returns `null` if the page asks for none of these.
   */
  function answered(page: TestPage, { fields = {}, decision = 'approve' }: Walk): Promise<TestPage> | null {
    const asked = formWith(page, ['csrf', 'decision']);
    if (asked !== undefined) {
      // The first button agrees, on the consent page and on the logout page.
      const [yes = '', no = ''] = buttonsOf(asked, 'decision');
      return sendForm(asked, page, { decision: decision === 'approve' ? yes : no });
    }
    const names = Object.keys(fields);
    const form = names.length === 0 ? undefined : formWith(page, names);
    return form === undefined ? null : sendForm(form, page, fields);
  }

  return {
    open: (url) => go(new URL(url, authUrl)),

    async submit(fields) {
      const form = stand && formWith(stand, Object.keys(fields));
      if (!form || stand === null)
        throw new Error(
          `no form has the fields ${Object.keys(fields).join(', ')}: ${stand ? wordsOf(stand) : 'no page is open'}`,
        );
      return sendForm(form, stand, fields);
    },

    async walk(url, walk = {}) {
      let page = await go(new URL(url, authUrl));
      const seen = new Set<string>();
      while (page.location === null) {
        const place = `${page.url.origin}${page.url.pathname} ${page.status}`;
        const next = seen.has(place) ? null : answered(page, walk);
        seen.add(place);
        if (next === null) throw new Error(wordsOf(page) + logged());
        page = await next;
      }
      return page.location;
    },
  };
}
