import { objectOf, Unreadable } from '../http/body.ts';
import { Sha256 } from './sha256.ts';

/** Summary at the end of an export. */
export interface ReconciliationSummary {
  readonly rows: number;
  readonly totals: readonly {
    readonly currency: string;
    readonly status: string;
    readonly count: number;
    /** Decimal with two digits. */
    readonly amount: string;
  }[];
  /** SHA-256 of every byte before the summary. */
  readonly sha256: string;
  /** True if every day of the range is closed. Its rows do not change any more. */
  readonly final: boolean;
}

/** A format of an export. */
export type ReconciliationFormat = 'json' | 'ndjson' | 'csv';

/** Error of an export that is incomplete or was changed. */
export function damaged(what: string): Unreadable {
  return new Unreadable(`The export is incomplete: ${what}`, 'incomplete_export');
}

/** Beginning of the summary in each format, and how to read the rest of its line as JSON. */
export const endings: {
  readonly [Format in ReconciliationFormat]: readonly [string, (rest: string) => string];
} = {
  json: ['"summary":', (rest) => `{"summary":${rest}`],
  ndjson: ['{"summary":', (rest) => `{"summary":${rest}`],
  csv: ['#summary,"', (rest) => `{"summary":${rest.replace(/"\r\n$/, '').replaceAll('""', '"')}}`],
};

/** No summary is longer, in bytes. */
const longest = 32 * 1024;

/**
 * Passes bytes through in constant memory, and reports the summary at their end.
 * @throws Unreadable when there is none, or its digest is not the one of what came before it
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
  // Decode one character per byte.
  const text = String.fromCharCode(...tail);
  // In texts of rows the quotation marks of a marker are escaped.
  const start = text.lastIndexOf(marker);
  const summary = start < 0 ? undefined : objectOf(jsonOf(text.slice(start + marker.length)))?.summary;
  const { sha256, rows } = (summary ?? {}) as Partial<ReconciliationSummary>;
  if (!Number.isInteger(rows)) throw damaged('it has no summary');
  if (hash.update(tail.subarray(0, start)).hex() !== sha256) throw damaged('its checksum is another one');
  tell(summary as ReconciliationSummary);
}
