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

/** Days of an export: one day, or the first and last of at most 31 days, in UTC. */
export type ReconciliationRange =
  | {
      /** Day whose transfers are exported, in UTC, as `YYYY-MM-DD`. */
      readonly date: string;
      readonly from?: undefined;
      readonly to?: undefined;
    }
  | { readonly from: string; readonly to: string; readonly date?: undefined };

/** A row of an export: a transfer that became final. */
export interface ReconciliationRow {
  readonly id: string;
  readonly reference: string | null;
  readonly status: Open<'completed' | 'failed'>;
  /** Amount of the transfer, a decimal with two digits. */
  readonly amount: string;
  readonly currency: Open<'HTG' | 'USD'>;
  readonly recipientKid: string;
  readonly description: string | null;
  readonly failureCode: string | null;
  /** Time of the transfer's creation, ISO 8601 in UTC, like all times of the row. */
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly updatedAt: string;
}

/** Default time limit of an export, in milliseconds. */
const exportTimeout = 3_600_000;

/**
 * Maximum length of a row whose end has not arrived yet, in characters. A longer one ends the export with
 * `incomplete_export`, before it fills the memory.
 */
const longestRow = 1024 * 1024;

/** Function that converts the bytes of an export while they arrive. */
type Use<Part> = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Part>;

/** Function that downloads an export in a format and converts it; it calls `tell` with the summary. */
type Download = <Part>(
  format: ReconciliationFormat,
  use: Use<Part>,
  tell: (summary: ReconciliationSummary) => void,
) => AsyncGenerator<Part, void, undefined>;

/**
 * Downloads an export as a stream. The timeout applies to each wait for bytes, so a slow reader loses no
 * data.
 */
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
    // Stop the download if the reader stops early.
    end?.abort();
  }
}

/** Parses the rows of an export in ndjson. */
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
      if (row === null) throw damaged('a row is not a JSON object');
      count();
      yield row as unknown as ReconciliationRow;
    }
  }
}

/**
 * An export, which is requested when it is read: row by row, or into a file. Rows are returned before the
 * export has been verified: rely on them only once the loop has ended without an error.
 */
export class ReconciliationExport implements AsyncIterable<ReconciliationRow> {
  readonly #download: Download;
  #summary: ReconciliationSummary | null = null;

  constructor(fetch: Download) {
    this.#download = fetch;
  }

  /** Summary at the end of the export; `null` until the whole export was read and verified. */
  get summary(): ReconciliationSummary | null {
    return this.#summary;
  }

  /**
   * Yields the rows of the export in constant memory. @throws OstiaryError `incomplete_export` if rows are
   * missing or were changed
   */
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
   * Writes the export to a file that only its owner may read. Once the checksum is verified, the file appears
   * and replaces an earlier one. After an error there is no new file. Needs a file system: Node, Deno or Bun.
   *
   * @returns the summary of the export
   * @throws OstiaryError `incomplete_export` if bytes are missing or were changed; the system's errors for the file
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
    const summaries: ReconciliationSummary[] = [];
    const parts = this.#download(
      options.format,
      (bytes) => bytes,
      (summary) => summaries.push(summary),
    );
    await saveTo(path, parts);
    this.#summary = summaries[0] as ReconciliationSummary;
    return this.#summary;
  }
}

/**
 * Exports the transfers that became final in a range. The export is requested when it is read. `timeout`
 * applies to each wait for bytes, and `totalTimeout` is an hour by default.
 *
 * @throws TypeError if `ostiary` is not a client of this package
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
