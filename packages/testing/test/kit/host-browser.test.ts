import { describe, expect, it } from 'vitest';
import { createHostBrowser } from '../../src/host/browser.ts';

interface Seen {
  readonly url: URL;
  readonly cookie: string;
  readonly body: string;
  readonly headers: Headers;
}

/** Opens a test browser that gets the given responses, by path, and records its requests. */
function open(answers: Readonly<Record<string, () => Response>>, languages: readonly string[] = []) {
  const seen: Seen[] = [];
  const browser = createHostBrowser({
    async send(input, init) {
      const request = new Request(input, init);
      const url = new URL(request.url);
      const { headers } = request;
      seen.push({ url, cookie: headers.get('cookie') ?? '', body: await request.text(), headers });
      return answers[url.pathname]?.() ?? new Response('nothing');
    },
    ...{ authUrl: 'https://id.test', origins: ['https://id.test', 'https://api.test'] },
    ...{ logged: () => '', languages },
  });
  return { browser, seen, last: () => seen.at(-1) as Seen };
}

const setting = (...cookies: string[]) => {
  const headers = new Headers();
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return () => new Response('', { headers });
};
const to = (status: number, location: string) => () => new Response(null, { status, headers: { location } });

describe('a browser of the kit', () => {
  it('keeps cookies for their host and path', async () => {
    const { browser, last } = open({ '/a/b': setting('whole=1; Path=/', 'own=2', 'deep=3; Path=/a/b/c') });
    await browser.open('/a/b');
    const sent = async (url: string) => {
      await browser.open(url);
      return last().cookie;
    };
    expect(await sent('/')).toBe('whole=1');
    expect(await sent('/a/x')).toBe('whole=1; own=2');
    expect(await sent('/ab')).toBe('whole=1');
    expect(await sent('/a/b/c/d')).toBe('whole=1; own=2; deep=3');
    expect(await sent('https://api.test/a/b/c')).toBe('');
  });

  it.each(['Max-Age=0', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT'])('forgets a cookie with %s', async (end) => {
    const { browser, last } = open({ '/in': setting('a=1; Path=/'), '/out': setting(`a=; Path=/; ${end}`) });
    await browser.open('/in');
    await browser.open('/out');
    await browser.open('/');
    expect(last().cookie).toBe('');
  });

  const form = (method: string) => `<form action="/go" method="${method}">
    <input name="text" value="a"><textarea name="area">b</textarea><input type="checkbox" name="off" value="c">
    <input type="checkbox" name="on" value="d" checked><input type="submit" name="button" value="e"></form>`;

  it.each([
    ['post', 303, ['/there', '']],
    ['post', 307, ['/there', 'text=z&area=b&on=d']],
  ] as const)('sends a form once: %s, then %i', async (method, status, expected) => {
    const { browser, seen, last } = open({
      '/': () => new Response(form(method)),
      '/go': to(status, '/there'),
    });
    await browser.open('/');
    await browser.submit({ text: 'z' });
    expect(seen[1]?.body).toBe('text=z&area=b&on=d');
    expect(seen[1]?.headers.get('origin')).toBe('https://id.test');
    expect([last().url.pathname, last().body]).toEqual(expected);
  });

  it('sends a form without a method in the address', async () => {
    const { browser, last } = open({ '/': () => new Response(form('')) });
    await browser.open('/');
    await browser.submit({ text: 'z' });
    expect([last().url.search, last().body]).toEqual(['?text=z&area=b&on=d', '']);
  });

  it('sends fields that stand outside of their form, and none of another form', async () => {
    const { browser, last } = open({
      '/': () =>
        new Response(`<input type="checkbox" name="allow:a" form="one" checked><input name="out" form="one" value="x">
          <form id="one" action="/go" method="post"><input name="text"><input name="other" form="two" value="y"></form>
          <input name="none" value="z"><form id="two" action="/two" method="post"></form>`),
    });
    await browser.open('/');
    await browser.submit({ text: 't', out: 'o' });
    expect([last().url.pathname, last().body]).toEqual(['/go', 'allow%3Aa=on&out=o&text=t']);
  });

  it('names languages only where it has some, and does not go in circles', async () => {
    const { browser, last } = open({ '/': to(302, '/') });
    await expect(browser.open('/')).rejects.toThrow('goes in circles');
    expect(last().headers.has('accept-language')).toBe(false);
    const french = open({}, ['fr', 'en']);
    await french.browser.open('/');
    expect(french.last().headers.get('accept-language')).toBe('fr,en');
  });
});
