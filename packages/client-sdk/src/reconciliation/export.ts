import { connectionOf, type OstiaryPartner } from '../client.ts';
import { chunksOf, objectOf, Unreadable } from '../http/body.ts';
import { errorOf, tryRepeatedly } from '../http/call.ts';
import { failureBy, outcomeAfter } from '../http/failure.ts';
import { watch } from '../http/watch.ts';
import { type Connection, checkCallOptions, checkNames, type RequestOptions, refuse } from '../options.ts';
import type { Open } from '../resources/open.ts';
import { saveTo } from './save.ts';
import {
  damaged,
  endings,
  type ReconciliationFormat,
  type ReconciliationSummary,
  verified,
} from './verified.ts';

/** Range of an export: a day, or a first and a last day, at most 31 days, both included, in UTC. */
export type ReconciliationRange =
  | {
      /** `YYYY-MM-DD` */
      readonly date: string;
      readonly from?: undefined;
      readonly to?: undefined;
    }
  | { readonly from: string; readonly to: string; readonly date?: undefined };

/** A transfer that became final. */
export interface ReconciliationRow {
  readonly id: string;
  readonly reference: string | null;
  readonly status: Open<'completed' | 'failed'>;
  /** Decimal with two digits. */
  readonly amount: string;
  readonly currency: Open<'HTG' | 'USD'>;
  readonly recipientKid: string;
  readonly description: string | null;
  readonly failureCode: string | null;
  /** ISO 8601, UTC, like all times. */
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly updatedAt: string;
}

/** An export may take this long, in milliseconds, unless the call says otherwise. */
const exportTimeout = 3_600_000;

/** No row is longer, in characters. */
const longestRow = 1024 * 1024;

/** Makes something of the bytes of an export while they come. */
type Use<Part> = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Part>;

/** Options of an export. */
type Download = <Part>(
  format: ReconciliationFormat,
  use: Use<Part>,
  tell: (summary: ReconciliationSummary) => void,
) => AsyncGenerator<Part, void, undefined>;

/** An export as it comes. The timeout is for each wait for bytes: a slow reader loses nothing. */
async function* download<Part>(
  connection: Connection,
  query: object,
  options: RequestOptions,
  ...[format, use, tell]: Parameters<Download>
): AsyncGenerator<Part, void, undefined> {
  checkCallOptions(options, false);
  const { timeout = connection.timeout, totalTimeout = exportTimeout } = options;
  const watching = watch(options.signal, totalTimeout);
  const request = {
    path: '/v1/partner/reconciliation',
    query: { ...query, format },
  } as const;
  let end: AbortController | undefined;
  try {
    const { result, response, attempts } = await tryRepeatedly(
      connection,
      request,
      options,
      watching,
      async (answer, controller) => {
        if (answer.body === null) throw new Unreadable();
        return { next: chunksOf(answer), controller };
      },
    );
    const { next, controller } = result;
    end = controller;
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (;;) {
        const value = await watching.during(timeout, next, controller);
        if (value === undefined) return;
        yield value;
      }
    }
    try {
      yield* use(verified(bytes(), format, tell)) as AsyncIterable<Part>;
    } catch (error) {
      const failure = failureBy(error, { sent: true, response });
      const outcome = outcomeAfter('not_executed', failure.effect);
      throw errorOf(connection.secrets, failure, { outcome, attempts, idempotencyKey: null });
    }
  } finally {
    watching.close();
    // A reader that stops early does not get the rest.
    end?.abort();
  }
}

/** The rows of an export in ndjson. */
async function* rowsOf(
  bytes: AsyncIterable<Uint8Array>,
  count: () => void,
): AsyncGenerator<ReconciliationRow> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of bytes) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestRow) throw damaged('a row is too long');
    for (const line of lines) {
      if (line.startsWith('{"summary":')) continue;
      const row = objectOf(line);
      if (row === null) throw damaged('a row is none');
      count();
      yield row as unknown as ReconciliationRow;
    }
  }
}

/**
 * An export, which is asked for when it is read: row by row, or into a file. Rows are given out before the end is known: what you
 * make of them is good when the loop has ended without an error.
 */
export class ReconciliationExport implements AsyncIterable<ReconciliationRow> {
  readonly #download: Download;
  #summary: ReconciliationSummary | null = null;

  constructor(fetch: Download) {
    this.#download = fetch;
  }

  /** Summary at the end of the export; `null` until the export was read to its end and found complete. */
  get summary(): ReconciliationSummary | null {
    return this.#summary;
  }

  /** Row by row, in constant memory. @throws OstiaryError `incomplete_export` when rows are missing or were changed */
  async *[Symbol.asyncIterator](): AsyncGenerator<ReconciliationRow, void, undefined> {
    let rows = 0;
    const count = (): void => {
      rows += 1;
    };
    yield* this.#download(
      'ndjson',
      (bytes) => rowsOf(bytes, count),
      (summary) => {
        if (summary.rows !== rows) throw damaged('its summary counts other rows');
        this.#summary = summary;
      },
    );
  }

  /**
   * Writes the export to a file that only its owner may read. The file appears, in place of an earlier one, when its checksum was
   * found right; after an error there is nothing. Needs a file system: Node, Deno or Bun.
   *
   * @returns the summary
   * @throws OstiaryError `incomplete_export` when bytes are missing or were changed; the system's errors for the file
   * @example
   * ```ts
   * const day = exportReconciliation(ostiary, { date: '2026-03-01' });
   * const { rows, final } = await day.saveTo('2026-03-01.csv', { format: 'csv' });
   * console.log(rows, final);
   * ```
   */
  async saveTo(
    path: string,
    options: { readonly format: ReconciliationFormat },
  ): Promise<ReconciliationSummary> {
    checkNames(options, ['format']);
    if (!Object.hasOwn(endings, options.format)) refuse('format must be json, ndjson or csv');
    const told: ReconciliationSummary[] = [];
    const parts = this.#download(
      options.format,
      (bytes) => bytes,
      (summary) => told.push(summary),
    );
    await saveTo(path, parts);
    this.#summary = told[0] as ReconciliationSummary;
    return this.#summary;
  }
}

/**
 * Exports what became final in a range. It is asked for when it is read. Its `timeout` is for each wait for bytes, its `totalTimeout`
 * an hour unless given.
 *
 * @throws TypeError when `ostiary` is no client of this package
 * @example
 * ```ts
 * const march = exportReconciliation(ostiary, { from: '2026-03-01', to: '2026-03-31' });
 * for await (const row of march) console.log(row.id, row.amount);
 * ```
 */
export function exportReconciliation(
  ostiary: OstiaryPartner,
  range: ReconciliationRange,
  options: RequestOptions = {},
): ReconciliationExport {
  const connection = connectionOf(ostiary);
  return new ReconciliationExport((...what) => download(connection, range, options, ...what));
}
