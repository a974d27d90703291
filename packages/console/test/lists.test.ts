import { describe, expect, it } from 'vitest';
import { act, operatorsKit, visited } from './console-kit.ts';
import { logRequests } from './size-kit.ts';

/** Returns the value of the hidden field `sort` of the form that filters a list; `null` without such a field. */
const orderKept = (text: string): string | null =>
  /<form class="(?:filters?|form)" method="get"[^>]*>(?:<input type="hidden"[^>]*>|\n)*?<input type="hidden" name="sort" value="([^"]*)">/.exec(
    text,
  )?.[1] ?? null;

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
    // A row that is added before the cursor does not shift the page.
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

  it('keep their order when their filters are submitted', async () => {
    const kit = await operatorsKit();
    const { partner } = await kit.key();
    const browser = kit.browser('ana');
    const own = [`partners/${partner}/payments`, `partners/${partner}/webhooks`];
    for (const path of [...own, 'payments', 'events', 'requests', 'endpoints', 'failing', 'audit'])
      for (const order of ['oldest', 'newest', null]) {
        const { text } = await browser.get(`/operators/${path}${order === null ? '' : `?sort=${order}`}`);
        expect([path, orderKept(text)]).toEqual([path, order]);
      }
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
  it('keep their order when their filters are submitted', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    for (const path of ['payments', 'requests', `endpoints/${endpoint}`]) {
      expect([path, orderKept((await browser.get(`/sandbox/${path}?sort=oldest`)).text)]).toEqual([
        path,
        'oldest',
      ]);
      expect(orderKept((await browser.get(`/sandbox/${path}?sort=__proto__`)).text)).toBeNull();
    }
  });

  it('page both ways, and say which rows of how many are shown', async () => {
    const { kit, key, browser } = await visited({ requestLog: 'off' });
    const endpoint = await kit.endpoint(key);
    const oldest = await kit.event(key);
    await kit.attempt({});
    for (let index = 1; index < 45; index += 1) {
      kit.provider.clock.advance(1);
      await kit.event(key);
    }
    const payment = { amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } };
    for (let index = 0; index < 55; index += 1)
      await kit.provider.partnerCall(key, 'POST /v1/partner/payments', payment);
    for (let index = 0; index < 12; index += 1) await kit.endpoint(key, `/${index}`);
    await act(browser, `/sandbox/events/${oldest}/redeliver`, {});
    // Cursors contain ids like those of real requests.
    const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    await logRequests(kit.storage, key, 60, idOf);
    const deliveries = /<li class="delivery" id="(dl_\w+)"/g;
    const requests = /<li id="([0-9a-f-]{36})"/g;
    for (const [path, pattern, older, ranges] of [
      ['/sandbox', /<li id="(evt_\w+)"/g, 'Older events', ['1–20 of 45', '21–40 of 45', '41–45 of 45']],
      ['/sandbox/payments', /<li id="(tr_\w+)"/g, 'Next page', ['1–50 of 55', '51–55 of 55']],
      [
        `/sandbox/endpoints/${endpoint}`,
        deliveries,
        'Next page',
        ['1–10 of 46', '11–20 of 46', '21–30 of 46', '31–40 of 46', '41–46 of 46'],
      ],
      [
        `/sandbox/endpoints/${endpoint}?status=pending`,
        deliveries,
        'Next page',
        ['1–10 of 45', '11–20 of 45', '21–30 of 45', '31–40 of 45', '41–45 of 45'],
      ],
      [`/sandbox/endpoints/${endpoint}?status=dropped`, deliveries, 'Next page', ['']],
      [`/sandbox/events/${oldest}`, deliveries, 'Next page', ['1–10 of 14', '11–14 of 14']],
      [`/sandbox/events/${oldest}?endpoint=${endpoint}`, deliveries, 'Next page', ['1–2 of 2']],
      ['/sandbox/requests', requests, 'Next page', ['1–50 of 60', '51–60 of 60']],
      ['/sandbox/requests?only=failed', requests, 'Next page', ['1–20 of 20']],
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
      expect([path, forwards.map(({ range }) => range)]).toEqual([path, ranges]);
      const count = Number(ranges[0].split(' of ')[1] ?? 0);
      expect([path, new Set(ids).size, ids.length]).toEqual([path, count, count]);
      const back = await pagesOf(forwards.at(-1)?.address ?? '', 'Previous page');
      expect([path, back.toReversed().map(({ ids, range }) => ({ ids, range }))]).toEqual([
        path,
        forwards.map(({ ids, range }) => ({ ids, range })),
      ]);
      if (path === '/sandbox' || ids.length === 0) continue;
      const { text } = await browser.get(path);
      const reversed = await pagesOf(linkIn(text, 'Oldest first') ?? '', 'Next page');
      expect([path, reversed.flatMap((page) => page.ids)]).toEqual([path, ids.toReversed()]);
      const returned = await pagesOf(reversed.at(-1)?.address ?? '', 'Previous page');
      expect([path, returned.toReversed().flatMap((page) => page.ids)]).toEqual([path, ids.toReversed()]);
    }
    for (const place of ['before=x', 'after=x'])
      expect((await browser.get(`/sandbox/requests?${place}`)).status).toBe(400);
    expect((await browser.get('/sandbox/requests?sort=__proto__&nr=-1')).status).toBe(200);
  });
});
