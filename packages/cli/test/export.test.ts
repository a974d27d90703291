import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { books, dateOf, day, formats, midnight } from '../../core/test/payments/books.ts';
import { verifyExport } from '../src/export/verify.ts';
import { terminal } from './support.ts';

const folder = await mkdtemp(join(tmpdir(), 'export-'));
afterAll(() => rm(folder, { recursive: true }));

/**
 * Creates a partner with three transfers on one day, and returns a function that runs the command `export`
 * for that day.
 */
async function withTransfers() {
  const { provider, key, add, ask } = await books();
  const start = midnight(provider) - 3 * day;
  await add({ id: 'tr_a', updatedAt: start, reference: 'he said "summary": {"summary": #summary,' });
  await add({ id: 'tr_b', updatedAt: start + 1, status: 'failed', failure: { code: 'no', message: 'No.' } });
  await add({ id: 'tr_c', updatedAt: start + 2, amount: 250n, currency: 'USD' });
  const { run } = await terminal(Promise.resolve({ provider }) as never);
  const date = dateOf(start);
  const exported = (file: string, more = '') =>
    run(`export ${key.partner} --from ${date} --file ${join(folder, file)} ${more}`);
  return { provider, key, ask, run, date, exported };
}

describe('ostiary export', () => {
  it.each(formats)('writes the response of the API, as %s, and verifies it', async (format) => {
    const { ask, date, exported } = await withTransfers();
    const file = join(folder, `whole.${format}`);
    const { code, out, err } = await exported(`whole.${format}`, `--format ${format}`);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Wrote 3 rows to ${file}, and verified them. Every day is closed.`);
    expect(out).toMatch(/^HTG +completed +1 +1\.00$/m);
    const text = await readFile(file, 'utf8');
    expect(text).toBe((await ask(`date=${date}&format=${format}`)).text);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    // Change a byte, then remove the summary. The reference of a transfer looks like a summary.
    await writeFile(file, text.replace('tr_b', 'tr_x'));
    await expect(verifyExport(file, format)).rejects.toThrow(/damaged: its SHA-256 is [0-9a-f]{64}, and/);
    const beforeSummary = text.slice(0, text.lastIndexOf('summary') - 2);
    // The last character of the third cut would be valid JSON by itself.
    for (const cut of [beforeSummary, 'id,reference\r\n', text.slice(0, text.indexOf('1') + 1), '']) {
      await writeFile(file, cut);
      await expect(verifyExport(file, format)).rejects.toThrow('incomplete: it has no summary');
    }
  });

  it('reports the written file as JSON, and warns for a day that is not over', async () => {
    const { run, key, provider, exported, date } = await withTransfers();
    expect(JSON.parse((await exported('programs.csv', '--json')).out)).toMatchObject({
      ...{ format: 'csv', from: date, to: date, rows: 3, final: true },
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const today = `--from ${date} --to ${dateOf(provider.clock.now())}`;
    const { out } = await run(`export ${key.partner} ${today} --file ${join(folder, 'open.csv')}`);
    expect(out).toContain('Not every day is closed');
    // A file without rows begins with its summary.
    const test = await exported('test.ndjson', '--format ndjson --mode test');
    expect(test.out).toContain('Wrote 0 rows');
  });

  it('leaves no file behind if it is refused or fails, and keeps an existing file', async () => {
    const { exported, provider, key } = await withTransfers();
    expect((await exported('there.csv')).code).toBe(0);
    const before = await readFile(join(folder, 'there.csv'), 'utf8');
    const again = await exported('there.csv');
    expect(again).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('already; name another one'),
    });
    expect(await readFile(join(folder, 'there.csv'), 'utf8')).toBe(before);
    expect((await exported('no/folder.csv')).err).toContain('there is no folder');

    const files = await readdir(folder);
    const { admin } = provider.ostiary;
    const broken = (pieces: () => AsyncIterable<string>) =>
      terminal().then(({ run }) =>
        run(`export ${key.partner} --from 2026-01-01 --file ${join(folder, 'broken.csv')}`, {
          open: async () => {
            const reconciliation = { ...admin.reconciliation, export: async () => pieces() };
            const own = { ...admin, reconciliation, as: () => ({ ...admin, reconciliation }) };
            return { admin: own, close: async () => undefined };
          },
        }),
      );
    const breaks = await broken(async function* () {
      yield 'id\r\n';
      throw new Error('the database is gone');
    });
    expect(breaks).toMatchObject({ code: 1, err: 'the database is gone\n' });
    const taken = await broken(async function* () {
      // The file has a temporary name while it is written, so another process can take the final name.
      expect(await readdir(folder)).not.toContain('broken.csv');
      await writeFile(join(folder, 'broken.csv'), 'mine');
      yield* await admin.reconciliation.export({
        ...{ partner: key.partner, mode: 'live', from: '2026-01-01', to: '2026-01-01', format: 'csv' },
      });
    });
    expect(taken).toMatchObject({ code: 2, err: expect.stringContaining('already; name another one') });
    expect(await readFile(join(folder, 'broken.csv'), 'utf8')).toBe('mine');
    await rm(join(folder, 'broken.csv'));
    const ends = await broken(async function* () {
      yield 'id\r\n';
    });
    expect(ends).toMatchObject({ code: 1, err: expect.stringContaining('incomplete') });
    expect(await readdir(folder)).toEqual(files);
  });
});
