import { createHash } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { expect } from 'vitest';
import { systemRandom } from '../../src/secrets/random.ts';
import type { Storage, TransferRecord } from '../../src/storage.ts';
import { newEvent } from '../../src/webhooks/outgoing.ts';
import type { Answer } from '../support/browser.ts';
import { storageWith } from '../support/fragile-storage.ts';
import { partnerProvider } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';

export const day = 86_400_000;
export const formats = ['json', 'ndjson', 'csv'] as const;
export type Format = (typeof formats)[number];

export const columns = [
  ...(['id', 'reference', 'status', 'amount', 'currency', 'recipientKid', 'description'] as const),
  ...(['failureCode', 'createdAt', 'completedAt', 'updatedAt'] as const),
];
type Row = Record<(typeof columns)[number], string | null>;
interface Summary {
  readonly rows: number;
  readonly totals: readonly { currency: string; status: string; count: number; amount: string }[];
  readonly sha256: string;
  readonly final: boolean;
}

/** Parses CSV (RFC 4180), independently of the code that writes it. */
function readCsv(text: string): string[][] {
  const cells = Array.from(text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g));
  const records: string[][] = [[]];
  for (const [, quoted, plain, end] of cells) {
    records.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end === '\r\n') records.push([]);
  }
  records.pop();
  return records;
}

interface Parts {
  readonly rows: Row[];
  readonly summary: Summary;
}

const readers: Readonly<Record<Format, (text: string) => Parts>> = {
  json(text) {
    const { data: rows, summary } = JSON.parse(text) as { data: Row[]; summary: Summary };
    return { rows, summary };
  },
  ndjson(text) {
    const lines = text.trimEnd().split('\n');
    const { summary } = JSON.parse(lines.pop() ?? '') as Parts;
    return { rows: lines.map((line) => JSON.parse(line) as Row), summary };
  },
  csv(text) {
    const [header = [], ...records] = readCsv(text);
    const [mark, summary = ''] = records.pop() ?? [];
    expect([header, mark]).toEqual([columns, '#summary']);
    const rowOf = (cells: readonly string[]) =>
      Object.fromEntries(
        columns.map((name, index) => [name, cells[index] === '' ? null : cells[index]]),
      ) as Row;
    return { rows: records.map(rowOf), summary: JSON.parse(summary) as Summary };
  },
};

/** Splits an export into its parts in the way that the documentation advises to partners. */
export function read(text: string, format: Format): Parts & { readonly digest: string } {
  const start = text.lastIndexOf({ json: '"summary":', ndjson: '{"summary"', csv: '#summary' }[format]);
  const digest = createHash('sha256').update(text.slice(0, start)).digest('hex');
  return { ...readers[format](text), digest };
}

export const midnight = (provider: TestProvider) => Math.floor(provider.clock.now() / day) * day;
export const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

export interface Books {
  readonly provider: TestProvider;
  readonly key: TestKey;
  add(changes: Partial<TransferRecord> & { readonly id: string; readonly updatedAt: number }): Promise<void>;
  ask(query: string): Promise<Answer>;
}

/** Makes the record of a pending transfer that was requested with a live API key. */
const transferOf = (partner: string, changes: Partial<TransferRecord> & { id: string }): TransferRecord => ({
  ...{ partner, mode: 'live', status: 'pending', amount: 100n, currency: 'HTG', recipientKid: 'KID-ANA' },
  ...{ description: null, reference: null, metadata: null, failure: null, completedAt: null },
  ...{ createdAt: 1, updatedAt: 1 },
  ...changes,
});

/** Starts a provider to which a test adds transfers directly, so that their times are exact. */
export async function books(storage: Storage = memoryStorage()): Promise<Books> {
  const { provider } = await partnerProvider({ storage });
  const key = await provider.key();
  return {
    provider,
    key,
    async add({ id, updatedAt, status = 'completed', failure = null, ...changes }) {
      const before = { createdAt: updatedAt - 1, updatedAt: updatedAt - 1 };
      const transfer = transferOf(key.partner, { id, ...before, ...changes });
      const job = { id, kind: 'none', payload: {}, dueAt: 0 };
      const { outcome } = await storage.transfers.create({ transfer, idempotency: null, job, now: 0 });
      expect(outcome).toBe('created');
      if (status === 'pending') return;
      const { partner, mode } = transfer;
      const happened = { partner, mode, type: `payment.${status}`, data: {}, createdAt: updatedAt };
      const event = newEvent({ telemetry: null, random: systemRandom }, happened);
      await storage.transfers.settle({ id, status, failure, event, now: updatedAt });
    },
    ask: (query) => provider.partnerCall(key, `GET /v1/partner/reconciliation?${query}`),
  };
}

/** Prepares an export of 500 large pages, on a storage that counts its queries. */
export async function manyPages() {
  const pages = { asked: 0, breakAfter: Number.POSITIVE_INFINITY };
  const description = 'd'.repeat(140);
  const listFinal: Storage['transfers']['listFinal'] = async () => {
    const page = ++pages.asked;
    if (page > pages.breakAfter)
      throw Object.assign(new Error('secret detail'), { code: 'STORAGE_UNAVAILABLE' });
    return Array.from({ length: page > 500 ? 0 : 1_000 }, (_, index) =>
      transferOf('p', { id: `tr_${page}_${index}`, status: 'completed', description, updatedAt: page }),
    );
  };
  const storage = storageWith(memoryStorage(), 'transfers', { listFinal });
  const { provider } = await partnerProvider({ storage });
  return { provider, key: (await provider.key()).key, pages };
}

/** Resolves once a number has stopped growing, and returns the number. */
export async function settled(count: () => number): Promise<number> {
  for (let before = -1, same = 0; same < 20; ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    same = count() === before ? same + 1 : 0;
    before = count();
  }
  return count();
}
