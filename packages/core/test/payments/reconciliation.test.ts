import { describe, expect, it } from 'vitest';
import { storages } from '../support/partner-api.ts';
import { books, columns, dateOf, day, type Format, formats, midnight, read } from './books.ts';

const minute = 60_000;

describe.each(storages)('a reconciliation export, on %s', (_name, newStorage) => {
  it.each(formats)(
    'as %s has every final transfer of the day, from midnight to midnight, in order',
    async (format) => {
      const { provider, add, ask } = await books(newStorage());
      const start = midnight(provider) - 3 * day;
      await add({ id: 'tr_b', updatedAt: start });
      await add({ id: 'tr_a', updatedAt: start });
      await add({
        id: 'tr_c',
        updatedAt: start + day - 1,
        status: 'failed',
        failure: { code: 'no', message: 'No.' },
        currency: 'USD',
        reference: 'r',
        createdAt: start - 5 * day,
      });
      await add({ id: 'tr_before', updatedAt: start - 1 });
      await add({ id: 'tr_after', updatedAt: start + day });
      await add({ id: 'tr_pending', updatedAt: start + 1, status: 'pending' });
      const answer = await ask(`date=${dateOf(start)}&format=${format}`);
      expect(answer.status).toBe(200);
      const { rows, summary, digest } = read(answer.text, format);
      const at = (time: number) => new Date(time).toISOString();
      const common = {
        reference: null,
        status: 'completed',
        amount: '1.00',
        currency: 'HTG',
        recipientKid: 'KID-ANA',
        description: null,
        failureCode: null,
      };
      expect(rows).toEqual([
        { ...common, id: 'tr_a', createdAt: at(start - 1), completedAt: at(start), updatedAt: at(start) },
        { ...common, id: 'tr_b', createdAt: at(start - 1), completedAt: at(start), updatedAt: at(start) },
        {
          ...common,
          id: 'tr_c',
          reference: 'r',
          status: 'failed',
          currency: 'USD',
          failureCode: 'no',
          createdAt: at(start - 5 * day),
          completedAt: null,
          updatedAt: at(start + day - 1),
        },
      ]);
      expect(Object.keys(rows[0] ?? {})).toEqual([...columns]);
      expect(summary).toEqual({
        rows: 3,
        totals: [
          { currency: 'HTG', status: 'completed', count: 2, amount: '2.00' },
          { currency: 'USD', status: 'failed', count: 1, amount: '1.00' },
        ],
        sha256: digest,
        final: true,
      });
      // The same bytes when asked again, and by range.
      expect((await ask(`date=${dateOf(start)}&format=${format}`)).text).toBe(answer.text);
      expect((await ask(`from=${dateOf(start)}&to=${dateOf(start)}&format=${format}`)).text).toBe(
        answer.text,
      );
      const wide = read(
        (await ask(`from=${dateOf(start - day)}&to=${dateOf(start + day)}&format=${format}`)).text,
        format,
      );
      expect(wide.rows.map(({ id }) => id)).toEqual(['tr_before', 'tr_a', 'tr_b', 'tr_c', 'tr_after']);
    },
  );

  it.each(formats)(
    'as %s of a closed day is the same bytes for ever, whatever happens later',
    async (format) => {
      const { provider, add, ask } = await books(newStorage());
      const start = midnight(provider) - 2 * day;
      for (let index = 0; index < 150; index += 1)
        await add({ id: `tr_${index}`, updatedAt: start + (index % 7), amount: BigInt(index + 1) });
      await add({ id: 'tr_pending', updatedAt: start + 1, status: 'pending' });
      const first = await ask(`date=${dateOf(start)}&format=${format}`);
      expect(read(first.text, format).summary).toMatchObject({ rows: 150, final: true });
      await provider.ostiary.payments.settle('tr_pending', { status: 'completed' });
      await add({ id: 'tr_0_later', updatedAt: provider.clock.now() });
      provider.clock.advance(400 * day);
      const again = await ask(`date=${dateOf(start)}&format=${format}`);
      expect(again.text).toBe(first.text);
      // What was pending stands where it was decided.
      const later = await ask(`date=${dateOf(provider.clock.now() - 400 * day)}&format=${format}`);
      expect(read(later.text, format).rows.map(({ id }) => id)).toEqual(['tr_0_later', 'tr_pending']);
    },
  );

  it.each(formats)('as %s pages through more rows of one moment than a page has', async (format) => {
    const { provider, add, ask } = await books(newStorage());
    const start = midnight(provider) - 2 * day;
    const count = 2_100;
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        add({ id: `tr_${String(index).padStart(5, '0')}`, updatedAt: start + 7 }),
      ),
    );
    const { rows, summary, digest } = read(
      (await ask(`date=${dateOf(start)}&format=${format}`)).text,
      format,
    );
    expect(rows.map(({ id }) => id)).toEqual(
      Array.from({ length: count }, (_, index) => `tr_${String(index).padStart(5, '0')}`),
    );
    expect(summary).toMatchObject({ rows: count, sha256: digest, totals: [{ count, amount: '2100.00' }] });
  });
});

describe('a reconciliation export', () => {
  it.each(formats)('as %s of an empty day has a summary and nothing else', async (format) => {
    const { provider, ask } = await books();
    const { rows, summary, digest } = read(
      (await ask(`date=${dateOf(midnight(provider) - day)}&format=${format}`)).text,
      format,
    );
    expect([rows, summary]).toEqual([[], { rows: 0, totals: [], sha256: digest, final: summary.final }]);
  });

  it('has types and names that programs and people understand', async () => {
    const { ask } = await books();
    const types = await Promise.all(
      ['', '&format=json', '&format=ndjson', '&format=csv'].map(async (format) => {
        const { headers } = await ask(`date=2024-01-01${format}`);
        return [
          headers.get('content-type'),
          headers.get('content-disposition'),
          headers.get('cache-control'),
        ];
      }),
    );
    expect(types).toEqual([
      ['application/json; charset=utf-8', null, 'no-store'],
      ['application/json; charset=utf-8', null, 'no-store'],
      [
        'application/x-ndjson; charset=utf-8',
        'attachment; filename="reconciliation-2024-01-01.ndjson"',
        'no-store',
      ],
      ['text/csv; charset=utf-8', 'attachment; filename="reconciliation-2024-01-01.csv"', 'no-store'],
    ]);
  });

  it('adds up exactly what no double holds', async () => {
    const { provider, add, ask } = await books();
    const start = midnight(provider) - day;
    const big = 99_999_999_999_999_999n;
    for (let index = 0; index < 101; index += 1)
      await add({ id: `tr_${index}`, updatedAt: start + index, amount: big });
    const { summary } = read((await ask(`date=${dateOf(start)}`)).text, 'json');
    expect(summary.totals).toEqual([
      { currency: 'HTG', status: 'completed', count: 101, amount: '100999999999999998.99' },
    ]);
  });

  it('is final five minutes after the last day has ended', async () => {
    const { provider, ask } = await books();
    const today = midnight(provider);
    provider.clock.advance(today + day - provider.clock.now());
    const isFinal = async (query: string) => read((await ask(query)).text, 'json').summary.final;
    expect(await isFinal(`date=${dateOf(today)}`)).toBe(false);
    expect(await isFinal(`date=${dateOf(today - day)}`)).toBe(true);
    expect(await isFinal(`from=${dateOf(today - day)}&to=${dateOf(today)}`)).toBe(false);
    provider.clock.advance(5 * minute - 1);
    expect(await isFinal(`date=${dateOf(today)}`)).toBe(false);
    provider.clock.advance(1);
    expect(await isFinal(`date=${dateOf(today)}`)).toBe(true);
    expect(await isFinal(`from=${dateOf(today)}&to=${dateOf(today + day)}`)).toBe(false);
  });

  it.each([
    ['', 'from'],
    ['date=2026-02-30', 'date'],
    ['date=2025-02-29', 'date'],
    ['date=2026', 'date'],
    ['date=2026-03', 'date'],
    ['date=2026-3-1', 'date'],
    ['date=20260301', 'date'],
    ['date=2026-03-01T00:00:00Z', 'date'],
    ['date=', 'date'],
    ['date=٢٠٢٦-٠٣-٠١', 'date'],
    ['date=%2B002026-03-01', 'date'],
    ['date=0', 'date'],
    ['date=2999-01-01', 'date'],
    ['date=2026-03-01&from=2026-03-01', 'date'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['from=2026-03-01&to=2026-04-01', 'to'],
    ['from=2026-03-01&to=2026-04-10', 'to'],
    ['from=2026-03-01', 'to'],
    ['to=2026-03-01', 'from'],
    ['from=2026-03-01&to=x', 'to'],
    ['from=2999-01-01&to=2999-01-02', 'from'],
    ['date=2026-03-01&date=2026-03-01', 'date'],
    ['date=2026-03-01&format=xml', 'format'],
    ['date=2026-03-01&format=', 'format'],
    ['day=2026-03-01', 'day'],
  ])('of %j is refused', async (query, path) => {
    const { ask } = await books();
    const answer = await ask(query);
    expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
    expect(answer.json().details).toMatchObject([{ path }]);
  });

  it('may be of 31 days, and of the 29th of February', async () => {
    const { ask } = await books();
    for (const query of ['from=2026-03-01&to=2026-03-31', 'date=2024-02-29'])
      expect((await ask(query)).status).toBe(200);
  });

  it('as CSV keeps quotes, newlines and emoji, and disarms what a spreadsheet would run', async () => {
    const { provider, add, ask } = await books();
    const start = midnight(provider) - day;
    const texts = [
      'say "hi", friend',
      'one\ntwo\r\nthree',
      '🏠 Pétion-Ville',
      'a,b',
      'a;b; c',
      'a, -1',
      "'=1",
      '#summary',
      'a=1',
    ];
    const armed = [
      '=HYPERLINK("http://evil.example","x")',
      '+1',
      '-1',
      '@SUM(A1)',
      '\tx',
      ' =1',
      '\u00a0\u3000=1',
      '\u2003+1',
      '\u200b=1',
      '\u2800@1',
      '\u0000=1',
      '\ufeff=1',
      '\ufeff "=1',
      '＝1',
      '＋1',
      '－1',
      '＠1',
      '﹦1',
    ];
    // Where `;` separates cells, the first quote stands inside one: what follows is not quoted.
    const split = [
      [';=1', "';'=1"],
      ['; \ufeff=1', "'; \ufeff'=1"],
      ['a;=1;b;-2', "a;'=1;b;'-2"],
      ['a;"@1', `a;"'@1`],
      ['\t=1', "'\t'=1"],
      ['\r=1', "'\r'=1"],
      ['\n=1', "'\n'=1"],
      ['one\r\n=1\ntwo', "one\r\n'=1\ntwo"],
    ] as const;
    const given = [...texts, ...armed, ...split.map(([text]) => text)];
    for (const [index, description] of given.entries()) {
      await add({
        id: `tr_${String(index).padStart(3, '0')}`,
        updatedAt: start,
        description,
        reference: index === texts.length ? '=cmd' : null,
      });
    }
    const shown = async (format: Format) =>
      read((await ask(`date=${dateOf(start)}&format=${format}`)).text, format).rows.map(
        ({ description }) => description,
      );
    expect(await shown('json')).toEqual(given);
    expect(await shown('ndjson')).toEqual(given);
    expect(await shown('csv')).toEqual([
      ...texts,
      ...armed.map((text) => `'${text}`),
      ...split.map(([, disarmed]) => disarmed),
    ]);
    expect((await ask(`date=${dateOf(start)}&format=csv`)).text).toContain(
      `,"'=HYPERLINK(""http://evil.example"",""x"")",`,
    );
    expect((await ask(`date=${dateOf(start)}&format=csv`)).text).toContain(",'=cmd,");
  });
});
