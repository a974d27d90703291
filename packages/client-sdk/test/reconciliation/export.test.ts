import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConnectionError, ProtocolError, RateLimitError, TimeoutError } from '../../src/index.ts';
import { exportReconciliation } from '../../src/reconciliation/index.ts';
import { type Fault, fakeKey, refusal, resetBefore } from '../support/faulty.ts';
import { against, all, clientOf, failureOf, partner } from '../support/partner.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'ostiary-sdk-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Starts a real server with transfers that became final, and returns their day. */
async function bank(count = 40) {
  const { ostiary, provider, key } = await partner();
  for (let index = 0; index < count; index += 1) {
    // A quarter of the transfers fail. The descriptions would confuse a parser that only looks for markers.
    await ostiary.payments.create({
      amount: index % 4 === 0 ? '1.01' : '1.00',
      currency: index % 2 === 0 ? 'HTG' : 'USD',
      recipient: { kid: 'KID-TEST-APPROVED' },
      reference: `order-${index}`,
      description: ['"summary":{', '#summary,"', 'Pò,"é"\n😀', '=1+1'][index % 4],
    });
  }
  for (let pending = true; pending; ) {
    await provider.ostiary.worker.runDue();
    pending = (await ostiary.payments.list({ status: 'pending' }).page()).data.length > 0;
  }
  const date = new Date(provider.clock.now()).toISOString().slice(0, 10);
  return { ostiary, provider, key, date };
}

const row = (id: string) => `${JSON.stringify({ id, status: 'completed' })}\n`;
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const ending = (text: string, rows: number, sha256 = sha(text)) =>
  `${JSON.stringify({ summary: { rows, totals: [], sha256, final: true } })}\n`;
const whole = (...ids: string[]) => {
  const text = ids.map(row).join('');
  return text + ending(text, ids.length);
};

/**
 * Makes a fault that sends a text in pieces, and then breaks the connection unless the text was sent
 * completely.
 */
const send =
  (text: string, { size = 7, breaks = false } = {}): Fault =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-request-id': 'req-1' });
    for (let start = 0; start < text.length; start += size) {
      await new Promise((resolve) => response.write(text.slice(start, start + size), resolve));
    }
    if (breaks) response.socket?.resetAndDestroy();
    else response.end();
  };

const day = { date: '2026-03-01' };

it('needs a client of this package', () => {
  const lookalike = { ...clientOf('https://api.example', fakeKey).ostiary } as never;
  expect(() => exportReconciliation(lookalike, day)).toThrow(TypeError);
});

describe('an export, row by row', () => {
  it('yields every row of a real server, and the summary at the end', async () => {
    const { ostiary, date } = await bank();
    const report = exportReconciliation(ostiary, { date });
    expect(report.summary).toBeNull();
    const rows = await all(report);
    expect(rows).toHaveLength(40);
    expect(rows.find(({ reference }) => reference === 'order-0')).toMatchObject({
      currency: 'HTG',
      status: 'failed',
      recipientKid: 'KID-TEST-APPROVED',
    });
    expect(rows.map(({ description }) => description)).toContain('Pò,"é"\n😀');
    expect(report.summary).toMatchObject({ rows: 40, final: false });
    expect(report.summary?.totals).toContainEqual({
      currency: 'USD',
      status: 'completed',
      count: 20,
      amount: '20.00',
    });
  });

  it('does not depend on how the bytes arrive', async () => {
    for (const size of [1, 3, 1_000]) {
      const { ostiary } = await against([send(whole('tr_1', 'tr_2', 'tr_3'), { size })]);
      const rows = await all(exportReconciliation(ostiary, day));
      expect(rows.map(({ id }) => id)).toEqual(['tr_1', 'tr_2', 'tr_3']);
    }
  });

  it.each<readonly [string, string]>([
    ['without a summary', row('tr_1')],
    ['of nothing', ''],
    ['with half a summary', whole('tr_1').slice(0, -20)],
    ['with another checksum', row('tr_1') + ending('', 1)],
    ['with a row less than its summary says', row('tr_1') + ending(row('tr_1'), 2)],
    [
      'with a row more than its summary says',
      row('tr_1') + row('tr_2') + ending(row('tr_1') + row('tr_2'), 1),
    ],
    ['with a row that was changed', whole('tr_1').replace('tr_1', 'tr_9')],
    ['with something after its summary', whole('tr_1') + row('tr_2')],
    ['with a row that is none', `what?\n${ending('what?\n', 1)}`],
    ['that is a page', '<html>Sign in to the wifi</html>'],
  ])('%s is an error', async (_name, text) => {
    const { ostiary } = await against([send(text, { size: 20 })]);
    const report = exportReconciliation(ostiary, day);
    const error = await failureOf(all(report));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ code: 'incomplete_export', requestId: 'req-1', retryable: true });
    expect(report.summary).toBeNull();
  });

  it('that is cut off throws after the rows that arrived', async () => {
    const { ostiary } = await against([send(row('tr_1') + row('tr_2'), { breaks: true })]);
    const seen: string[] = [];
    const read = async () => {
      for await (const { id } of exportReconciliation(ostiary, day)) seen.push(id);
    };
    expect(await failureOf(read())).toBeInstanceOf(ConnectionError);
    expect(seen.length).toBeLessThanOrEqual(2);
  });
});

describe('an export that is slow, refused or abandoned', () => {
  it('is aborted by its timeout if no bytes arrive, but not for a slow reader', async () => {
    const stuck: Fault = (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(row('tr_1'));
    };
    const { ostiary } = await against([stuck, send(whole('tr_1', 'tr_2'))], { timeout: 300 });
    expect(await failureOf(all(exportReconciliation(ostiary, day)))).toBeInstanceOf(TimeoutError);
    let rows = 0;
    const started = performance.now();
    for await (const _ of exportReconciliation(ostiary, day)) {
      rows += 1;
      // Read for longer than the time-out.
      while (performance.now() - started < 400 * rows)
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(rows).toBe(2);
  });

  it('is retried before its first byte, but not afterwards', async () => {
    const { ostiary, seen } = await against([
      resetBefore,
      refusal(503, 'internal_error'),
      send(whole('tr_1')),
    ]);
    expect(await all(exportReconciliation(ostiary, day))).toHaveLength(1);
    expect(seen).toHaveLength(3);
    expect(seen[0]?.path).toBe('/v1/partner/reconciliation?date=2026-03-01&format=ndjson');
  });

  it('fails at once if the server requests a wait of an hour', async () => {
    const { ostiary } = await against([refusal(429, 'rate_limit_exceeded', { 'retry-after': '3600' })]);
    const error = await failureOf(all(exportReconciliation(ostiary, day)));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfter: 3_600_000, attempts: 1 });
  });

  it('closes the connection when its reader stops, and when its caller aborts', async () => {
    let closed = 0;
    const endless: Fault = (response) => {
      response.on('close', () => {
        closed += 1;
      });
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(row('tr_1'));
    };
    const { ostiary } = await against([endless, endless]);
    for await (const _ of exportReconciliation(ostiary, day)) break;
    await expect.poll(() => closed).toBe(1);
    const controller = new AbortController();
    const { signal } = controller;
    const read = async () => {
      for await (const _ of exportReconciliation(ostiary, day, { signal })) controller.abort();
    };
    expect(await failureOf(read())).toMatchObject({ name: 'AbortedError' });
    await expect.poll(() => closed).toBe(2);
  });
});

describe('an export into a file', () => {
  it.each(['json', 'ndjson', 'csv'] as const)('as %s is what the server sent', async (format) => {
    const { ostiary, provider, key, date } = await bank();
    const path = join(await folder(), `day.${format}`);
    const report = exportReconciliation(ostiary, { from: date, to: date });
    const summary = await report.saveTo(path, { format });
    expect(summary).toMatchObject({ rows: 40, final: false });
    expect(report.summary).toEqual(summary);
    const direct = await provider.partnerCall(
      key,
      `GET /v1/partner/reconciliation?date=${date}&format=${format}`,
    );
    expect(await readFile(path, 'utf8')).toBe(direct.text);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('of many rows, longer than the buffered end, has the right checksum', async () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => `tr_${index}`);
    const { ostiary } = await against([send(whole(...ids), { size: 50_000 })]);
    const path = join(await folder(), 'day.ndjson');
    const report = exportReconciliation(ostiary, day);
    expect((await report.saveTo(path, { format: 'ndjson' })).rows).toBe(5_000);
  });

  it.each<readonly [string, Fault]>([
    ['breaks off', send(row('tr_1'), { breaks: true })],
    ['has no summary', send(row('tr_1'))],
    ['was changed', send(whole('tr_1').replace('tr_1', 'tr_9'))],
    ['is refused', refusal(403, 'insufficient_scope')],
  ])('that %s leaves nothing behind, and an earlier file as it was', async (_name, fault) => {
    const { ostiary } = await against([fault]);
    const path = await folder();
    const file = join(path, 'day.ndjson');
    await writeFile(file, 'yesterday');
    const report = exportReconciliation(ostiary, day);
    await failureOf(report.saveTo(file, { format: 'ndjson' }));
    expect(await readdir(path)).toEqual(['day.ndjson']);
    expect(await readFile(file, 'utf8')).toBe('yesterday');
  });

  it('that cannot be written fails with the system’s error, and requests nothing', async () => {
    const { ostiary, seen } = await against();
    const report = exportReconciliation(ostiary, day);
    const path = join(await folder(), 'no-such-folder', 'day.csv');
    expect(await failureOf(report.saveTo(path, { format: 'csv' }))).toMatchObject({ code: 'ENOENT' });
    expect(seen).toEqual([]);
    const noFormat = report.saveTo(path, { format: 'xls' as never });
    expect(await failureOf(noFormat)).toBeInstanceOf(TypeError);
  });
});
