import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { books, dateOf, day, type Format, midnight, read } from './books.ts';

it('an export as CSV keeps quotes, newlines and emoji, and disarms what a spreadsheet would run', async () => {
  const { provider, add, ask } = await books();
  const start = midnight(provider) - day;
  const quoted = ['say "hi", friend', 'one\ntwo\r\nthree', '🏠 Pétion-Ville', 'a,b', 'a;b; c', 'a, -1'];
  const texts = [...quoted, "'=1", '#summary', 'a=1'];
  const armed = [
    ...['=HYPERLINK("http://evil.example","x")', '+1', '-1', '@SUM(A1)', '\tx', ' =1', '＝1', '＋1', '－1'],
    ...['＠1', '﹦1', '\u00a0\u3000=1', '\u2003+1', '\u200b=1', '\u2800@1', '\u0000=1', '\ufeff=1'],
    '\ufeff "=1',
  ];
  // Programs that separate cells by `;` see the first quote inside a cell, and take the text after it for
  // unquoted.
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
    const id = `tr_${String(index).padStart(3, '0')}`;
    await add({ id, updatedAt: start, description, reference: index === texts.length ? '=cmd' : null });
  }
  const textAs = async (format: Format) => (await ask(`date=${dateOf(start)}&format=${format}`)).text;
  const shown = async (format: Format) =>
    read(await textAs(format), format).rows.map(({ description }) => description);
  expect(await shown('json')).toEqual(given);
  expect(await shown('ndjson')).toEqual(given);
  expect(await shown('csv')).toEqual([
    ...texts,
    ...armed.map((text) => `'${text}`),
    ...split.map(([, disarmed]) => disarmed),
  ]);
  const csv = await textAs('csv');
  expect(csv).toContain(`,"'=HYPERLINK(""http://evil.example"",""x"")",`);
  expect(csv).toContain(",'=cmd,");
});

it('a row of NDJSON is one line to readers that end lines at U+0085, U+2028 and U+2029', async () => {
  const { provider, add, ask } = await books();
  const start = midnight(provider) - 2 * day;
  const description = 'one\u0085two\u2028three\u2029four';
  await add({ id: 'tr_1', updatedAt: start, description });
  const { text } = await ask(`date=${dateOf(start)}&format=ndjson`);
  const lines: string[] = [];
  for await (const line of createInterface({ input: Readable.from([text]) })) lines.push(line);
  expect(lines).toHaveLength(2);
  expect(text.split(/[\n\u0085\u2028\u2029]/)).toHaveLength(3);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ description });
});
