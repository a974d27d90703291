import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import english from '../languages/en.json' with { type: 'json' };
import { operatorsKit } from './console-kit.ts';

const kit = await operatorsKit();
const browser = kit.browser('ana');
const { provider, storage } = kit;
const key = await kit.key();
const owner = { partner: key.partner, mode: 'test' } as const;
const path = `/operators/partners/${key.partner}`;

/** Makes a test payment and settles it. */
async function pay(amount: string, more: object = {}): Promise<string> {
  const body = { amount, currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' }, ...more };
  const answer = await provider.partnerCall(key, 'POST /v1/partner/payments', body);
  await provider.ostiary.worker.runDue();
  return String(answer.json().id);
}

let completed = '';
let failed = '';
const reference = 'invoice; "7"';

beforeAll(async () => {
  completed = await pay('1250.00', {
    reference,
    description: 'Kafe ☕; tou nwa',
    metadata: { order: 'b-7' },
  });
  failed = await pay('20.01');
  provider.clock.advance(86_400_000);
  await pay('3.00');
});

const get = (page: string) => browser.get(`${path}${page}`);
const idsIn = (text: string): string[] => [...text.matchAll(/<li id="(tr_[^"]+)"/g)].map(([, id = '']) => id);
const today = () => new Date(provider.clock.now()).toISOString().slice(0, 10);
const dayBefore = () => new Date(provider.clock.now() - 86_400_000).toISOString().slice(0, 10);

describe('the payments of a partner', () => {
  it('are listed in either order of time, with filters by status, reference and day', async () => {
    const newest = idsIn((await get('/payments?mode=test')).text);
    expect(newest).toHaveLength(3);
    expect(newest.slice(1).toSorted()).toEqual([failed, completed].toSorted());
    expect(idsIn((await get('/payments?mode=test&sort=oldest')).text)).toEqual(newest.toReversed());
    expect(idsIn((await get('/payments?mode=test&status=failed')).text)).toEqual([failed]);
    const byReference = new URLSearchParams({ mode: 'test', reference });
    expect(idsIn((await get(`/payments?${byReference}`)).text)).toEqual([completed]);
    const day = `from=${dayBefore()}&to=${dayBefore()}`;
    const ofDay = idsIn((await get(`/payments?mode=test&${day}`)).text);
    expect(ofDay.toSorted()).toEqual([failed, completed].toSorted());
    expect(idsIn((await get('/payments')).text)).toEqual([]);
    const { status } = await get('/payments?mode=test&after=nonsense');
    expect(status).toBe(400);
  });

  it('have a page each, with the event, and of their partner and mode alone', async () => {
    const { text } = await get(`/payments/${completed}?mode=test`);
    for (const part of ['1250.00 HTG', 'invoice; &quot;7&quot;', 'Kafe ☕; tou nwa', '&quot;b-7&quot;'])
      expect(text).toContain(part);
    expect(text).toContain('payment.completed');
    expect((await get(`/payments/${failed}?mode=test`)).text).toContain('payment.failed');
    expect((await get(`/payments/${completed}`)).status).toBe(404);
    // No link to the other mode, in which there is no such payment.
    expect(text).not.toContain('mode=live');
    expect(text).toContain('<dt>Data</dt><dd>Test data</dd>');
    const other = await kit.key();
    const elsewhere = `/operators/partners/${other.partner}/payments/${completed}?mode=test`;
    expect((await browser.get(elsewhere)).status).toBe(404);
  });

  it('reach the page of a partner in few steps, and nobody without a session', async () => {
    expect((await get('')).text).toContain(`${path}/payments"`);
    const pages = [
      '/payments',
      `/payments/${completed}?mode=test`,
      '/reconciliation',
      '/payment-file?format=csv',
    ];
    for (const page of pages)
      expect([page, (await kit.browser('').get(`${path}${page}`)).status >= 300]).toEqual([page, true]);
  });
});

describe('the reconciliation of a day', () => {
  it('has the sums and the checksum of the file that the partner gets', async () => {
    const { text } = await get(`/reconciliation?mode=test&day=${dayBefore()}`);
    expect(text).toContain('<td>1250.00</td>');
    expect(text).toContain('<td>20.01</td>');
    const file = await get(`/payment-file?mode=test&format=csv&from=${dayBefore()}&to=${dayBefore()}`);
    const [body = ''] = file.text.split('#summary');
    expect(text).toContain(createHash('sha256').update(body).digest('hex'));
    expect(file.headers.get('content-disposition')).toBe(
      `attachment; filename="${key.partner}-test-${dayBefore()}.csv"`,
    );
    const theirs = await provider.partnerCall(
      key,
      `GET /v1/partner/reconciliation?date=${dayBefore()}&format=csv`,
    );
    expect(file.text).toBe(theirs.text);
  });

  it('says whether the day is closed, and refuses what is no day', async () => {
    expect((await get(`/reconciliation?mode=test&day=${today()}`)).text).toContain('The day is not closed');
    for (const day of ['2030-02-30', 'x', '9999-01-01'])
      expect((await get(`/reconciliation?mode=test&day=${day}`)).status).toBe(400);
  });
});

describe('the file for spreadsheets', () => {
  it('begins with a byte order mark, which tells Excel that it is UTF-8', async () => {
    const days = { from: dayBefore(), to: dayBefore() };
    const style = {
      timeZone: 'UTC',
      separator: ',',
      decimal: '.',
      titles: english.payments.columns,
    } as const;
    const pieces = await kit.admin.reconciliation.spreadsheet({ ...owner, ...days, ...style });
    const { value } = await pieces[Symbol.asyncIterator]().next();
    expect(value).toMatch(/^\uFEFFCreated,Completed,/);
  });

  const file = (query: object, language = 'en') =>
    browser.get(
      `${path}/payment-file?${new URLSearchParams({ mode: 'test', format: 'spreadsheet', ...query })}`,
      { 'Accept-Language': language },
    );

  it('opens with a parser of somebody else: BOM, local dates, no summary', async () => {
    const month = dayBefore().slice(0, 7);
    const answer = await file({ month, zone: 'America/Port-au-Prince' });
    expect(answer.headers.get('content-disposition')).toContain(`${key.partner}-test-${month}.csv`);
    const rows: Record<string, string>[] = parse(answer.text, { bom: true, columns: true });
    const row = rows.find((one) => one['Transfer id'] === completed);
    expect(row).toMatchObject({ Amount: '1250.00', Currency: 'HTG', Reference: reference });
    const transfer = await storage.transfers.find(owner, completed);
    const local = new Date(transfer?.createdAt ?? 0).toLocaleString('sv-SE', {
      timeZone: 'America/Port-au-Prince',
    });
    expect(row?.Created).toBe(local);
    expect(answer.text).not.toContain('#summary');
  });

  it('says that there is no such month or time zone, or that the month has not begun', async () => {
    for (const [language, sentence] of [
      ['en', 'There is no such month or time zone, or the month has not begun.'],
      ['es', 'Ese mes o esa zona horaria no existe, o el mes no ha empezado.'],
      ['fr', 'Ce mois ou ce fuseau horaire n’existe pas, ou le mois n’a pas commencé.'],
      ['ht', 'Pa gen mwa oswa zòn lè konsa, oswa mwa a poko kòmanse.'],
      ['pt', 'Esse mês ou esse fuso horário não existe, ou o mês ainda não começou.'],
    ] as const) {
      const wrong = { month: dayBefore().slice(0, 7), zone: 'Mars' };
      for (const query of [{ month: '2099-01' }, { month: '2030-13' }, {}, wrong]) {
        const { status, text } = await file(query, language);
        expect([query, status]).toEqual([query, 400]);
        expect(text).toContain(sentence);
        expect(text).toContain('name="month"');
      }
    }
  });

  it('has the separators and titles of the language', async () => {
    const month = dayBefore().slice(0, 7);
    const rows: Record<string, string>[] = parse((await file({ month }, 'fr')).text, {
      ...{ bom: true, columns: true, delimiter: ';' },
    });
    const row = rows.find((one) => one['Id du transfert'] === completed);
    expect(row).toMatchObject({ Montant: '1250,00', Objet: 'Kafe ☕; tou nwa' });
  });

  it('needs a month that exists and a time zone that exists', async () => {
    for (const query of [
      { month: '2030-13' },
      { month: '' },
      { month: dayBefore().slice(0, 7), zone: 'Mars' },
    ])
      expect((await file(query)).status).toBeGreaterThanOrEqual(400);
  });
});
