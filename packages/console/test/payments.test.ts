import { createHash } from 'node:crypto';
import type { TransferRecord } from '@ostiary/core/storage';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { created } from '../../testing/src/contract/partner-samples.ts';
import { consoleKit, csrfOf } from './console-kit.ts';

const kit = await consoleKit();
const key = await kit.key();
const { provider, storage } = kit;
let browser = provider.browser(null);
const dayMs = 86_400_000;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const idsIn = (text: string): string[] =>
  [...text.matchAll(/<li id="(tr_[0-9a-f]{32})"/g)].map(([, id = '']) => id);
const linkIn = (text: string, words: string): string | null =>
  new RegExp(`<a href="([^"]+)"[^>]*>${words}</a>`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;

/** Makes a test payment of a partner and settles it. */
async function pay(by: typeof key, amount: string, more: object = {}): Promise<string> {
  const kid = by.mode === 'test' ? 'KID-TEST-APPROVED' : 'KID-ANA';
  const body = { amount, currency: 'HTG', recipient: { kid }, ...more };
  const answer = await provider.partnerCall(by, 'POST /v1/partner/payments', body);
  await provider.ostiary.worker.runDue();
  return String(answer.json().id);
}

const hostile = '"><img src=x onerror=alert(1)>\u202e';
const formula = '=HYPERLINK("https://evil.example";"click")';
let completed = '';
let failed = '';
let firstDay = '';

beforeAll(async () => {
  await kit.endpoint(key);
  firstDay = dayOf(provider.clock.now());
  completed = await pay(key, '1250.00', {
    reference: hostile,
    description: formula,
    metadata: { till: '</pre>' },
  });
  provider.clock.advance(1_000);
  failed = await pay(key, '20.01', { reference: 'order-7' });
  provider.clock.advance(dayMs);
  // Sessions last eight hours.
  browser = await kit.signedIn(key);
});

describe('the payments of a partner', () => {
  it('are in the navigation, and listed newest first, with filters', async () => {
    const { text } = await browser.get('/sandbox');
    expect(text).toMatch(/\/sandbox\/payments"><span>Payments</);
    const get = async (query: string) => idsIn((await browser.get(`/sandbox/payments${query}`)).text);
    expect(await get('')).toEqual([failed, completed]);
    expect(await get('?status=completed')).toEqual([completed]);
    expect(await get('?reference=order-7')).toEqual([failed]);
    expect(await get(`?from=${firstDay}&to=${firstDay}`)).toEqual([failed, completed]);
    expect(await get(`?from=${dayOf(provider.clock.now())}`)).toEqual([]);
    expect(await get('?status=constructor&from=2030-02-30&reference=%00')).toEqual([failed, completed]);
    for (const query of ['?after=x', '?before=x', `?after=${'x'.repeat(400)}`])
      expect([query, (await browser.get(`/sandbox/payments${query}`)).status]).toEqual([query, 400]);
  });

  it('are paged both ways without a gap, and counted', async () => {
    const other = await kit.key();
    const theirs = await kit.signedIn(other);
    const ids = Array.from({ length: 120 }, (_, index) => index.toString(16).padStart(32, '0'));
    const owner = { partner: other.partner, mode: 'test' } as const;
    for (const [index, id] of ids.entries())
      await created(storage, id, { ...owner, createdAt: 1_000 + Math.floor(index / 7) });
    const pagesFrom = async (start: string, words: string) => {
      const pages: { readonly ids: readonly string[]; readonly range: string; readonly url: string }[] = [];
      for (let url: string | null = start; url !== null; ) {
        const { text } = await theirs.get(url);
        pages.push({
          ids: idsIn(text),
          range: /<p class="small muted">(\d[^<]*)</.exec(text)?.[1] ?? '',
          url,
        });
        url = linkIn(text, words);
      }
      return pages;
    };
    for (const query of ['', '?status=pending&from=1970-01-01&to=1970-01-01']) {
      const forwards = await pagesFrom(`/sandbox/payments${query}`, 'Next page');
      expect(forwards.flatMap((page) => page.ids)).toEqual(ids.map((id) => `tr_${id}`).toReversed());
      expect(forwards.map(({ range }) => range)).toEqual(['1–50 of 120', '51–100 of 120', '101–120 of 120']);
      const back = await pagesFrom(forwards.at(-1)?.url ?? '', 'Previous page');
      expect(back.toReversed().map((page) => page.ids)).toEqual(forwards.map((page) => page.ids));
    }
  });

  it('have a page each, with its steps, its event and the deliveries', async () => {
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null });
    const page = await browser.get(`/sandbox/payments/${completed}`);
    for (const part of ['1250.00 HTG', 'Initiated', 'Completed', 'payment.completed', 'Failing'])
      expect(page.text).toContain(part);
    expect(page.text).toMatch(/\/sandbox\/events\/evt_[0-9a-f]+#dl_/);
    expect((await browser.get(`/sandbox/payments/${failed}`)).text).toContain('payment.failed');
    const listed = await browser.get('/sandbox/payments');
    expect(listed.text).toContain(`/sandbox/payments/${completed}"`);
  });

  it('show the texts of the partner as text', async () => {
    for (const path of [
      '/sandbox/payments',
      `/sandbox/payments/${completed}`,
      '/sandbox/payments?reference=%3Cb%3E',
    ]) {
      const { text } = await browser.get(path);
      expect(text).not.toMatch(/<img|<b>|\u202e/);
      if (path !== '/sandbox/payments?reference=%3Cb%3E') expect(text).toContain('&lt;img src=x');
    }
  });

  it('are those of the partner in test mode alone', async () => {
    const live = await provider.key({ mode: 'live', partner: key.partner });
    const others = await kit.key();
    const foreign = [await pay(live, '5.00'), await pay(others, '6.00')];
    const { text } = await browser.get('/sandbox/payments');
    for (const id of foreign) {
      expect(text).not.toContain(id);
      expect((await browser.get(`/sandbox/payments/${id}`)).status).toBe(404);
    }
    const file = await browser.get(
      `/sandbox/payment-file?format=csv&from=${dayOf(provider.clock.now())}&to=${dayOf(provider.clock.now())}&mode=live&partner=${others.partner}`,
    );
    for (const id of foreign) expect(file.text).not.toContain(id);
    expect((await browser.get(`/sandbox/payments/tr_${'0'.repeat(32)}`)).status).toBe(404);
    expect((await browser.get('/sandbox/payments/nonsense')).status).toBe(404);
  });

  it('need a session, and a key with their scopes', async () => {
    const paths = ['payments', `payments/${completed}`, 'reconciliation', 'payment-file?format=csv'];
    for (const path of paths) {
      const { status } = await provider.browser(null).get(`/sandbox/${path}`);
      expect([path, status]).toEqual([path, 303]);
    }
    const poor = await provider.key({ mode: 'test', partner: key.partner, scopes: ['webhooks'] });
    const session = await kit.signedIn(poor);
    const day = `from=${firstDay}&to=${firstDay}`;
    const [asCsv, asSheet] = [
      `payment-file?format=csv&${day}`,
      `payment-file?format=spreadsheet&month=${firstDay.slice(0, 7)}`,
    ];
    for (const path of [...paths.slice(0, 2), `reconciliation?day=${firstDay}`, asCsv, asSheet]) {
      const { status, text } = await session.get(`/sandbox/${path}`);
      const scope = path.startsWith('payments') ? 'payments:read' : 'reconciliation:read';
      expect.soft([path, status]).toEqual([path, 403]);
      expect.soft(text).toContain(`needs a key with the scope <code>${scope}</code>`);
      for (const part of ['1250.00', 'KID-TEST', completed]) expect.soft(text).not.toContain(part);
    }
  });
});

describe('the reconciliation of a day', () => {
  it('has the sums and the checksum of the file that the API returns, byte for byte', async () => {
    const { text } = await browser.get(`/sandbox/reconciliation?day=${firstDay}`);
    expect(text).toMatch(/<th scope="row">HTG<\/th><td>Completed<\/td><td>1<\/td><td>1250\.00</);
    expect(text).toMatch(/<th scope="row">HTG<\/th><td>Failed<\/td><td>1<\/td><td>20\.01</);
    expect(text).toContain('The day is closed');
    for (const format of ['csv', 'ndjson']) {
      const file = await browser.get(
        `/sandbox/payment-file?format=${format}&from=${firstDay}&to=${firstDay}`,
      );
      const target = `GET /v1/partner/reconciliation?date=${firstDay}&format=${format}`;
      expect(file.text).toBe((await provider.partnerCall(key, target)).text);
      expect(file.headers.get('content-disposition')).toBe(
        `attachment; filename="${key.partner}-test-${firstDay}.${format}"`,
      );
      const [body = ''] = file.text.split('#summary');
      if (format === 'csv') expect(text).toContain(createHash('sha256').update(body).digest('hex'));
    }
  });

  it('says that a day is open, and refuses what is no day', async () => {
    const { text } = await browser.get(`/sandbox/reconciliation?day=${dayOf(provider.clock.now())}`);
    expect(text).toContain('The day is not closed');
    for (const day of ['2030-02-30', 'x', '9999-01-01', '%3Cb%3E'])
      expect([day, (await browser.get(`/sandbox/reconciliation?day=${day}`)).status]).toEqual([day, 400]);
    for (const query of [
      '',
      '?format=xml',
      '?format=csv',
      '?format=csv&from=x%22%0d%0a&to=x',
      '?format=spreadsheet&month=2030-13',
    ])
      expect([query, (await browser.get(`/sandbox/payment-file${query}`)).status]).toEqual([query, 400]);
    for (const [month, zone] of [
      [firstDay.slice(0, 7), 'Mars'],
      ['2099-01', 'America/Port-au-Prince'],
    ]) {
      const path = `/sandbox/payment-file?format=spreadsheet&month=${month}&zone=${zone}`;
      const { status, text } = await browser.get(path, { 'accept-language': 'pt' });
      expect([path, status]).toEqual([path, 400]);
      expect(text).toContain('Esse mês ou esse fuso horário não existe, ou o mês ainda não começou.');
      expect(text).toContain(`name="month" value="${month}"`);
      expect(text).toContain(`name="zone" value="${zone}"`);
    }
  });

  it('has a file for spreadsheets: local dates, no summary, and nothing that runs', async () => {
    const month = firstDay.slice(0, 7);
    const zone = 'America/Port-au-Prince';
    const file = async (language: string) =>
      browser.get(`/sandbox/payment-file?format=spreadsheet&month=${month}&zone=${zone}`, {
        'accept-language': language,
      });
    const answer = await file('en');
    expect(answer.headers.get('content-disposition')).toContain(`"${key.partner}-test-${month}.csv"`);
    expect(answer.text).not.toContain('#summary');
    const rows: Record<string, string>[] = parse(answer.text, { bom: true, columns: true });
    const row = rows.find((one) => one['Transfer id'] === completed);
    const stored = await storage.transfers.findById(completed);
    const local = new Date(stored?.createdAt ?? 0).toLocaleString('sv-SE', { timeZone: zone });
    expect(row).toMatchObject({ Created: local, Amount: '1250.00', Description: `'${formula}` });
    const french: Record<string, string>[] = parse((await file('fr')).text, {
      ...{ bom: true, columns: true, delimiter: ';' },
    });
    expect(french.find((one) => one['Id du transfert'] === completed)).toMatchObject({ Montant: '1250,00' });
  });

  it('is read sixty times an hour at most, and the exports of the API are counted apart', async () => {
    const other = await kit.key();
    const theirs = await kit.signedIn(other);
    const path = `/sandbox/reconciliation?day=${firstDay}`;
    for (let number = 0; number < 60; number += 1) expect((await theirs.get(path)).status).toBe(200);
    expect((await theirs.get(path)).status).toBe(429);
    expect(
      (await theirs.get(`/sandbox/payment-file?format=csv&from=${firstDay}&to=${firstDay}`)).status,
    ).toBe(429);
    const target = `GET /v1/partner/reconciliation?date=${firstDay}`;
    expect((await provider.partnerCall(other, target)).status).toBe(200);
    expect((await browser.get(path)).status).toBe(200);
  });
});

describe('the payments in the live portal', () => {
  it('are the live ones, for a session that may only view', async () => {
    const live = await provider.key({ mode: 'live', partner: key.partner });
    const id = await pay(live, '77.00');
    const { url } = await provider.ostiary.admin.portal.link({ partner: key.partner, rights: 'view' });
    const visitor = provider.browser(null);
    const link = new URL(url).pathname;
    await visitor.post(link, { csrf: csrfOf((await visitor.get(link)).text) });
    const day = dayOf(provider.clock.now());
    for (const [path, part] of [
      ['payments', id],
      [`payments/${id}`, '77.00 HTG'],
      [`reconciliation?day=${day}`, 'The day is not closed'],
      [`payment-file?format=csv&from=${day}&to=${day}`, '#summary'],
    ] as const) {
      const { status, text } = await visitor.get(`/portal/${path}`);
      expect.soft([path, status]).toEqual([path, 200]);
      expect.soft(text).toContain(part);
      for (const test of [completed, failed]) expect.soft(text).not.toContain(test);
    }
    expect((await visitor.get(`/portal/payments/${completed}`)).status).toBe(404);
    expect((await browser.get(`/sandbox/payments/${id}`)).status).toBe(404);
  });
});

describe('a partner with many payments', () => {
  it('gets each page with the statements of one with few', async () => {
    const { fragileStorage } = await import('../../core/test/support/fragile-storage.ts');
    const { memoryStorage } = await import('@ostiary/testing/memory');
    const fragile = fragileStorage(memoryStorage());
    const large = await consoleKit({ requestLog: 'off' }, fragile.storage);
    const owner = await large.key();
    const session = await large.signedIn(owner);
    const at = large.provider.clock.now() - dayMs;
    const some = (from: number, to: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: to - from }, (_, index) => {
          const id = (from + index).toString(16).padStart(32, '0');
          const final: Partial<TransferRecord> = {
            status: 'completed',
            updatedAt: at + 1,
            completedAt: at + 1,
          };
          return created(fragile.storage, id, {
            ...{ partner: owner.partner, mode: 'test', createdAt: at - from - index },
            ...(index % 2 === 0 ? final : {}),
          });
        }),
      );
    const paths = ['', '?status=completed', `?from=${dayOf(at - 1)}&to=${dayOf(at)}`];
    const ask = async () => {
      const calls: string[][] = [];
      for (const path of paths) {
        const { text } = await session.get(`/sandbox/payments${path}`);
        const next = linkIn(text, 'Next page') ?? '';
        fragile.forget();
        expect((await session.get(next)).status).toBe(200);
        expect((await session.get(`/sandbox/payments/${idsIn(text)[0]}`)).status).toBe(200);
        calls.push(fragile.calls.filter((call) => call !== 'hourlyCounts.add').toSorted());
      }
      return calls;
    };
    await some(0, 120);
    const few = await ask();
    await some(120, 1_200);
    expect(await ask()).toEqual(few);
    expect((await session.get('/sandbox/payments')).text).toContain('1–50 of 1,200');
    const day = await session.get(`/sandbox/reconciliation?day=${dayOf(at)}`);
    expect(day.text).toContain('<dd>600</dd>');
  });
});
