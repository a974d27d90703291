import { describe, expect, it } from 'vitest';
import { operatorsKit, visited } from './console-kit.ts';
import { logRequests } from './size-kit.ts';

type Kit = Awaited<ReturnType<typeof operatorsKit>>;

const linkIn = (text: string, words: string): string | null =>
  new RegExp(`<a href="([^"]+)"[^>]*>${words}</a>`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;

/** Follows the links to further pages of a list, and returns the rows and the range of each page. */
async function pagesFrom(kit: Kit, path: string, words: string) {
  const browser = kit.browser('ana');
  const pages: { readonly rows: readonly string[]; readonly range: string; readonly path: string }[] = [];
  for (let next: string | null = path; next !== null; ) {
    const { status, text } = await browser.get(next);
    expect(status).toBe(200);
    const rows = [...text.matchAll(/<span><code>([^<]+)<\/code>/g)].map(([, id = '']) => id);
    pages.push({
      rows,
      range: /<p class="small muted">([^<]+)<\/p><\/div>/.exec(text)?.[1] ?? '',
      path: next,
    });
    next = linkIn(text, words);
  }
  return pages;
}

describe('the lists of operators', () => {
  it('are sorted by name and time, are paged both ways, and say how many there are', async () => {
    const kit = await operatorsKit();
    const names = Array.from({ length: 120 }, (_, index) => `p-${String(119 - index).padStart(3, '0')}`);
    for (const [index, slug] of names.entries()) {
      kit.provider.clock.advance(1);
      await kit.admin.partners.create({ slug, name: `${index % 2 === 0 ? 'Á' : 'a'} ${slug}` });
    }
    const byName = names.toSorted();
    const forwards = await pagesFrom(kit, '/operators/partners', 'Next page');
    expect(forwards.flatMap(({ rows }) => rows)).toEqual(byName);
    expect(forwards.map(({ range }) => range)).toEqual(['1–50 of 120', '51–100 of 120', '101–120 of 120']);
    const last = forwards.at(-1)?.path ?? '';
    const back = await pagesFrom(kit, last, 'Previous page');
    expect(back.toReversed().flatMap(({ rows }) => rows)).toEqual(byName);
    expect(back.map(({ range }) => range)).toEqual(['101–120 of 120', '51–100 of 120', '1–50 of 120']);
    const orders = [
      ['name-down', byName.toReversed()],
      ['newest', names.toReversed()],
      ['oldest', names],
    ] as const;
    for (const [order, expected] of orders) {
      const pages = await pagesFrom(kit, `/operators/partners?sort=${order}`, 'Next page');
      expect(pages.flatMap(({ rows }) => rows)).toEqual(expected);
    }
    // A row that is added before the place moves nothing.
    const second = forwards[1]?.path ?? '';
    await kit.admin.partners.create({ slug: 'aaa', name: 'A' });
    expect((await pagesFrom(kit, second, 'No such link'))[0]?.rows).toEqual(byName.slice(50, 100));
    const first = (await kit.browser('ana').get('/operators/partners')).text;
    expect(first).toContain('1–50 of 121');
    expect(first).toMatch(/Partners<\/span> <span class="count">121</);
  });

  it('refuse places that are none', async () => {
    const browser = (await operatorsKit()).browser('ana');
    const wrong = [
      'x',
      Buffer.from('[1,"a"]').toString('base64url'),
      Buffer.from('["\\u0000","a"]').toString('base64url'),
    ];
    for (const path of ['partners', 'clients', 'keys'])
      for (const place of wrong)
        for (const name of ['after', 'before'])
          expect((await browser.get(`/operators/${path}?${name}=${place}`)).status).toBe(400);
    expect((await browser.get('/operators/partners?sort=__proto__&nr=-1')).status).toBe(200);
  });

  it('shows the keys of all partners, without secrets', async () => {
    const kit = await operatorsKit();
    const keys = [await kit.key(), await kit.key()];
    const { text } = await kit.browser('ana').get('/operators/keys?sort=newest');
    for (const { id, key, partner } of keys) {
      expect(text).toContain(`/partners/${partner}/keys/${id}"`);
      expect(text).not.toContain(key);
      expect(text).toContain(`<code>${key.slice(0, 'svc_test_'.length + 8)}…</code>`);
    }
  });
});

describe('the lists of a partner', () => {
  it('page both ways, and say which events of how many are shown', async () => {
    const { kit, key, browser } = await visited({ requestLog: 'off' });
    const endpoint = await kit.endpoint(key);
    for (let index = 0; index < 45; index += 1) await kit.event(key);
    // Cursors contain ids like those of real requests.
    const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    await logRequests(kit.storage, key, 60, idOf);
    for (const [path, pattern, older, count] of [
      ['/sandbox', /<li id="(evt_\w+)"/g, 'Older events', 45],
      [`/sandbox/endpoints/${endpoint}`, /<li class="delivery" id="(dl_\w+)"/g, 'Older deliveries', 45],
      ['/sandbox/requests', /<li id="([0-9a-f-]{36})"/g, 'Older requests', 60],
      ['/sandbox/requests?only=failed', /<li id="([0-9a-f-]{36})"/g, 'Older requests', 20],
    ] as const) {
      const pagesOf = async (start: string, words: string) => {
        const pages: { readonly address: string; readonly ids: readonly string[]; readonly range: string }[] =
          [];
        for (let next: string | null = start; next !== null; ) {
          const { status, text } = await browser.get(next);
          expect(status).toBe(200);
          const ids = [...text.matchAll(pattern)].map(([, id = '']) => id);
          pages.push({
            address: next,
            ids,
            range: /<p class="small muted">(\d[^<]*)<\/p>/.exec(text)?.[1] ?? '',
          });
          next = linkIn(text, words);
        }
        return pages;
      };
      const forwards = await pagesOf(path, older);
      const ids = forwards.flatMap((page) => page.ids);
      expect([path, new Set(ids).size, ids.length]).toEqual([path, count, count]);
      const back = await pagesOf(forwards.at(-1)?.address ?? '', 'Previous page');
      expect([path, back.toReversed().map((page) => page.ids)]).toEqual([
        path,
        forwards.map((page) => page.ids),
      ]);
      if (path === '/sandbox')
        expect(forwards.map(({ range }) => range)).toEqual(['1–20 of 45', '21–40 of 45', '41–45 of 45']);
    }
    expect((await browser.get('/sandbox/requests?before=x')).status).toBe(400);
  });
});
