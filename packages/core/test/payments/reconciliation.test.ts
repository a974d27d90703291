import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { RawConnection } from '../attacks/raw.ts';
import { books, columns, dateOf, day, formats, manyPages, midnight, read } from './books.ts';

describe('a reconciliation export', () => {
  it.each(formats)(
    'as %s has every final transfer of the day, from midnight to midnight, in order',
    async (format) => {
      const { provider, add, ask } = await books();
      const start = midnight(provider) - 3 * day;
      const failed = { status: 'failed', failure: { code: 'no', message: 'No.' } } as const;
      for (const [id, updatedAt, more = {}] of [
        ['tr_b', start],
        ['tr_a', start],
        ['tr_c', start + day - 1, { ...failed, currency: 'USD', reference: 'r', createdAt: start - 5 * day }],
        ['tr_before', start - 1],
        ['tr_after', start + day],
        ['tr_pending', start + 1, { status: 'pending' }],
      ] as const)
        await add({ id, updatedAt, ...more });
      const answer = await ask(`date=${dateOf(start)}&format=${format}`);
      expect(answer.status).toBe(200);
      const { rows, summary, digest } = read(answer.text, format);
      const at = (time: number) => new Date(time).toISOString();
      const money = { status: 'completed', amount: '1.00', currency: 'HTG', recipientKid: 'KID-ANA' };
      const common = { ...money, reference: null, description: null, failureCode: null };
      const times = { createdAt: at(start - 1), completedAt: at(start), updatedAt: at(start) };
      expect(rows).toEqual([
        { ...common, ...times, id: 'tr_a' },
        { ...common, ...times, id: 'tr_b' },
        {
          ...{ ...common, id: 'tr_c', reference: 'r', status: 'failed', currency: 'USD', failureCode: 'no' },
          ...{ createdAt: at(start - 5 * day), completedAt: null, updatedAt: at(start + day - 1) },
        },
      ]);
      expect(Object.keys(rows[0] ?? {})).toEqual(columns);
      const totals = [
        { currency: 'HTG', status: 'completed', count: 2, amount: '2.00' },
        { currency: 'USD', status: 'failed', count: 1, amount: '1.00' },
      ];
      expect(summary).toEqual({ rows: 3, totals, sha256: digest, final: true });
      // Repeated requests, and requests by range, return the same bytes.
      const range = (from: number, to: number) =>
        ask(`from=${dateOf(from)}&to=${dateOf(to)}&format=${format}`);
      for (const again of [await ask(`date=${dateOf(start)}&format=${format}`), await range(start, start)])
        expect(again.text).toBe(answer.text);
      const wide = read((await range(start - day, start + day)).text, format);
      expect(wide.rows.map(({ id }) => id)).toEqual(['tr_before', 'tr_a', 'tr_b', 'tr_c', 'tr_after']);
    },
  );

  it.each(formats)(
    'as %s of a closed day is the same bytes for ever, whatever happens later',
    async (format) => {
      const { provider, add, ask } = await books();
      const start = midnight(provider) - 2 * day;
      const empty = await ask(`date=${dateOf(start)}&format=${format}`);
      const { rows, summary, digest } = read(empty.text, format);
      expect([rows, summary]).toEqual([[], { rows: 0, totals: [], sha256: digest, final: true }]);
      for (let index = 0; index < 150; index += 1)
        await add({ id: `tr_${index}`, updatedAt: start + (index % 7), amount: BigInt(index + 1) });
      await add({ id: 'tr_pending', updatedAt: start + 1, status: 'pending' });
      const first = await ask(`date=${dateOf(start)}&format=${format}`);
      expect(read(first.text, format).summary).toMatchObject({ rows: 150, final: true });
      await provider.ostiary.payments.settle('tr_pending', { status: 'completed' });
      provider.clock.advance(400 * day);
      const again = await ask(`date=${dateOf(start)}&format=${format}`);
      expect(again.text).toBe(first.text);
      // A transfer that was pending for long is listed on the day of its decision.
      const later = await ask(`date=${dateOf(provider.clock.now() - 400 * day)}&format=${format}`);
      expect(read(later.text, format).rows.map(({ id }) => id)).toEqual(['tr_pending']);
    },
  );

  it.each([
    ['', 'application/json', null],
    ['&format=json', 'application/json', null],
    ['&format=ndjson', 'application/x-ndjson', 'attachment; filename="reconciliation-2024-01-01.ndjson"'],
    ['&format=csv', 'text/csv', 'attachment; filename="reconciliation-2024-01-01.csv"'],
  ])('has a type and a name that programs and people understand: %j', async (format, type, name) => {
    const { headers } = await (await books()).ask(`date=2024-01-01${format}`);
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect([headers.get('content-disposition'), headers.get('cache-control')]).toEqual([name, 'no-store']);
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
});

// The test of Request objects covers that an export is not produced faster than it is read.
it('an export that breaks off in the middle is cut, logged, and has no summary', async () => {
  const { provider, key, pages } = await manyPages();
  const connection = await RawConnection.open(provider.origin);
  const target = '/v1/partner/reconciliation?date=2024-01-01';
  connection.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
  pages.breakAfter = 3;
  const text = await connection.all();
  expect(text).toContain('HTTP/1.1 200 OK');
  expect(text).toContain('tr_1_0');
  expect(text).not.toContain('"summary"');
  expect(text.endsWith('0\r\n\r\n')).toBe(false);
  expect(provider.errors.map(({ message }) => message)).toEqual(['a response broke off']);
});

it.each(['1.0', '1.1'])('an export that breaks off over HTTP/%s is a reset, not an end', async (version) => {
  const { provider, key, pages } = await manyPages();
  const socket = connect(Number(new URL(provider.origin).port), '127.0.0.1');
  const closed = once(socket, 'close');
  const target = '/v1/partner/reconciliation?date=2024-01-01';
  socket.write(`GET ${target} HTTP/${version}\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
  socket.once('data', () => {
    pages.breakAfter = pages.asked;
    socket.resume();
  });
  await expect(closed).rejects.toMatchObject({ code: 'ECONNRESET' });
});

it('an export that is read quickly lets other work of the process run', async () => {
  const { provider, pages } = await manyPages();
  const { partner } = await provider.key();
  const range = { from: '2024-01-01', to: '2024-01-01', format: 'ndjson', mode: 'live' } as const;
  const pieces = await provider.ostiary.admin.reconciliation.export({ partner, ...range });
  let askedBefore: number | undefined;
  setImmediate(() => {
    askedBefore = pages.asked;
  });
  for await (const _piece of pieces);
  expect(pages.asked).toBe(501);
  expect(askedBefore).toBeLessThan(10);
});

it('HEAD of an export does not read all of it', async () => {
  const { provider, key, pages } = await manyPages();
  const answer = await provider.partnerCall(key, 'HEAD /v1/partner/reconciliation?date=2024-01-01');
  expect([answer.status, answer.text]).toEqual([200, '']);
  expect(pages.asked).toBeLessThan(4);
});
