import { expect, it } from 'vitest';
import { books, dateOf, day, midnight } from './books.ts';

const columns = ['createdAt', 'completedAt', 'status', 'amount', 'currency'] as const;
const more = ['recipientKid', 'reference', 'description', 'failureCode', 'id'] as const;
const titles = Object.fromEntries([...columns, ...more].map((name) => [name, `The ${name}`])) as never;

/** Starts a provider with transfers of one day, and a function that writes that day as lines for spreadsheets. */
async function bookkeeping() {
  const { provider, key, add } = await books();
  const start = midnight(provider) - 2 * day;
  const date = dateOf(start);
  const { reconciliation } = provider.ostiary.admin;
  return {
    start,
    add,
    async lines(style: {
      readonly timeZone: string;
      readonly separator: ',' | ';';
      readonly decimal: ',' | '.';
    }) {
      const range = { partner: key.partner, mode: 'live', from: date, to: date } as const;
      let file = '';
      for await (const piece of await reconciliation.spreadsheet({ ...range, titles, ...style }))
        file += piece;
      const [, text = ''] = /^\uFEFF(.*)\r\n$/s.exec(file) ?? [];
      return text.split('\r\n');
    },
    refused: (style: object) =>
      reconciliation.spreadsheet({
        ...{ partner: key.partner, mode: 'live', from: date, to: date, titles },
        ...{ timeZone: 'UTC', separator: ',', decimal: '.', ...style },
      } as never),
  };
}

it('a file for spreadsheets has the titles, the decimal sign and the local times that were asked for', async () => {
  const { start, add, lines } = await bookkeeping();
  await add({ id: 'tr_1', updatedAt: start, amount: 1_250_00n, reference: 'bill 7' });
  await add({
    id: 'tr_2',
    updatedAt: start + 1,
    status: 'failed',
    failure: { code: 'closed', message: 'No.' },
  });
  const english = await lines({ timeZone: 'UTC', separator: ',', decimal: '.' });
  expect(english).toEqual([
    [...columns, ...more].map((name) => `The ${name}`).join(','),
    `${dateOf(start - 1)} 23:59:59,${dateOf(start)} 00:00:00,completed,1250.00,HTG,KID-ANA,bill 7,,,tr_1`,
    `${dateOf(start)} 00:00:00,,failed,1.00,HTG,KID-ANA,,,closed,tr_2`,
  ]);
  const [, french] = await lines({ timeZone: 'Asia/Kathmandu', separator: ';', decimal: ',' });
  expect(french).toBe(
    `${dateOf(start)} 05:44:59;${dateOf(start)} 05:45:00;completed;"1250,00";HTG;KID-ANA;bill 7;;;tr_1`,
  );
});

it('a file for spreadsheets quotes what contains its separator, and disarms formulas', async () => {
  const { start, add, lines } = await bookkeeping();
  await add({ id: 'tr_1', updatedAt: start, description: 'a;b', reference: 'a,b' });
  await add({ id: 'tr_2', updatedAt: start + 1, description: 'x;=1', reference: '=1' });
  const cellsIn = async (separator: ',' | ';') => {
    const [, ...rows] = await lines({ timeZone: 'UTC', separator, decimal: '.' });
    return rows.map((row) =>
      row.slice(row.indexOf('KID-ANA') + 8, row.indexOf(`${separator}${separator}tr_`)),
    );
  };
  expect(await cellsIn(';')).toEqual(['"a,b";"a;b"', `'=1;"x;'=1"`]);
  expect((await cellsIn(','))[0]).toBe('"a,b",a;b');
});

it('a file for spreadsheets is refused in an unknown time zone, or without a title', async () => {
  const { refused } = await bookkeeping();
  await expect(refused({ timeZone: 'Mars' })).rejects.toThrow(/^timeZone: is not a time zone/);
  await expect(refused({ separator: '\t' })).rejects.toThrow(/^separator: /);
  await expect(refused({ titles: { id: 'Id' } })).rejects.toThrow(/^titles/);
});
