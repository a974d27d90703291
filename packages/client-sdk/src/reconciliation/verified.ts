import { objectOf, Unreadable } from '../http/body.ts';
import { Sha256 } from './sha256.ts';

/** Summary at the end of an export. */
export interface ReconciliationSummary {
  readonly rows: number;
  readonly totals: readonly {
    readonly currency: string;
    readonly status: string;
    readonly count: number;
    /** Sum of the transfers' amounts, a decimal with two digits. */
    readonly amount: string;
  }[];
  /** SHA-256 of every byte of the export before the summary, in hexadecimal. */
  readonly sha256: string;
  /**
   * True if every day of the export is closed. In live mode, its rows then do not change any more. In test
   * mode, old payments are removed.
   */
  readonly final: boolean;
}

/** Name of an export format. */
export type ReconciliationFormat = 'json' | 'ndjson' | 'csv';

/** Creates the error for an export that is incomplete or was changed. */
export function damaged(what: string): Unreadable {
  return new Unreadable(`The export is incomplete: ${what}`, 'incomplete_export');
}

/**
 * Text with which the summary of an export starts in each format, and a function that converts the rest of
 * the export to JSON.
 */
export const endings: {
  readonly [Format in ReconciliationFormat]: readonly [string, (rest: string) => string];
} = {
  json: ['"summary":', (rest) => `{"summary":${rest}`],
  ndjson: ['{"summary":', (rest) => `{"summary":${rest}`],
  csv: ['#summary,"', (rest) => `{"summary":${rest.replace(/"\r\n$/, '').replaceAll('""', '"')}}`],
};

/**
 * Maximum size of an export's summary, in bytes: so much of the export's end is kept in memory to find it. An
 * export with a longer summary is refused as incomplete.
 */
const longest = 32 * 1024;

/**
 * Passes the bytes of an export through in constant memory, and reports the verified summary at the end.
 * @throws Unreadable if the summary is missing, or does not match the bytes before it
 */
export async function* verified(
  chunks: AsyncIterable<Uint8Array>,
  format: ReconciliationFormat,
  tell: (summary: ReconciliationSummary) => void,
): AsyncGenerator<Uint8Array, void> {
  const hash = new Sha256();
  let tail = new Uint8Array();
  for await (const chunk of chunks) {
    yield chunk;
    const joined = new Uint8Array(tail.length + chunk.length);
    joined.set(tail);
    joined.set(chunk, tail.length);
    const known = Math.max(0, joined.length - longest);
    hash.update(joined.subarray(0, known));
    tail = joined.slice(known);
  }
  const [marker, jsonOf] = endings[format];
  // One character per byte, so that indexes are the same.
  const text = String.fromCharCode(...tail);
  // The marker cannot occur in a row: quotation marks in its texts are escaped.
  const start = text.lastIndexOf(marker);
  const summary = start < 0 ? undefined : objectOf(jsonOf(text.slice(start + marker.length)))?.summary;
  const { sha256, rows } = (summary ?? {}) as Partial<ReconciliationSummary>;
  if (!Number.isInteger(rows)) throw damaged('it has no summary');
  if (hash.update(tail.subarray(0, start)).hex() !== sha256) throw damaged('its checksum is another one');
  tell(summary as ReconciliationSummary);
}
