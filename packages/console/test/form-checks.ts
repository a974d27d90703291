import type { TestBrowser } from '../../core/test/support/browser.ts';
import type { TestKey } from '../../core/test/support/provider.ts';
import { type consoleKit, csrfOf } from './console-kit.ts';

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];

/**
 * Returns the ids of the form fields that a page marks as invalid, in order; for checkboxes the id of their
 * group. Throws if a field has no message, or if the first field lacks the focus.
 */
export function markedFields(text: string): string[] {
  const tags = [...text.matchAll(/<(?:input|textarea)[^>]* aria-invalid="true"[^>]*>/g)].map(([tag]) => tag);
  const names = tags.map((tag) => {
    const [message = '', ...others] = (attribute(tag, 'aria-describedby') ?? '').split(' ');
    for (const id of [message, ...others])
      if (!text.includes(`id="${id}"`)) throw new Error(`${tag} is described by nothing`);
    const said = new RegExp(`id="${message}">(.*?)</div></div>`, 's')
      .exec(text)?.[1]
      ?.replace(/<[^>]*>/g, '');
    if (!message.endsWith('-wrong') || !said?.trim()) throw new Error(`${tag} does not say what is wrong`);
    return message.slice(0, -'-wrong'.length);
  });
  const focused = [...text.matchAll(/<[^>]* autofocus[^>]*>/g)].map(([tag]) => attribute(tag, 'id'));
  const marked = [...new Set(names)];
  if (JSON.stringify(focused) !== JSON.stringify(marked.slice(0, 1)))
    throw new Error(`the focus is on ${focused}, not on the first of ${marked}`);
  return marked;
}

/** Returns forged requests for a form of a signed-in partner, each with a name, form fields and headers. */
export async function forgeries(
  kit: Awaited<ReturnType<typeof consoleKit>>,
  key: TestKey,
  browser: TestBrowser,
): Promise<[string, Record<string, string>, Record<string, string>][]> {
  const csrf = csrfOf((await browser.get('/sandbox')).text);
  const ofAnother = csrfOf((await (await kit.signedIn(key)).get('/sandbox')).text);
  return [
    ['no proof', {}, {}],
    ['a bent proof', { csrf: `${csrf}x` }, {}],
    ['the proof of another session', { csrf: ofAnother }, {}],
    ['another origin', { csrf }, { origin: 'https://evil.example' }],
    ['another site', { csrf }, { 'sec-fetch-site': 'cross-site' }],
  ];
}
