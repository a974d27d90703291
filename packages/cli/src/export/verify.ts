import { open } from 'node:fs/promises';
import { digestOf } from '../atomic-write.ts';

/** Summary at the end of an export file. */
export interface ExportSummary {
  readonly rows: number;
  readonly totals: readonly {
    readonly currency: string;
    readonly status: string;
    readonly count: number;
    readonly amount: string;
  }[];
  readonly sha256: string;
  /**
   * True if every day of the export is closed. In live mode, the same export then has the same bytes next
   * time. In test mode, old payments are removed.
   */
  readonly final: boolean;
}

/**
 * Number of bytes at the end of an export file that are read to find the summary; a real summary is always
 * shorter.
 */
const longest = 65_536;

/** Patterns that find the summary in the last line of the file, and extract its JSON. */
const formats = {
  json: { start: '"summary":', read: (text: string) => JSON.parse(`{${text}`).summary },
  ndjson: { start: '{"summary":', read: (text: string) => JSON.parse(text).summary },
  csv: {
    start: '#summary,',
    read: (text: string) => {
      const cell = text.trimEnd().slice('#summary,'.length);
      return JSON.parse(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    },
  },
} as const;

/**
 * Finds the summary at the end of an export file, and its place; `null` if there is none. The reference of a
 * transfer may look like the start of a summary.
 */
function summaryIn(
  tail: Buffer,
  format: keyof typeof formats,
): { readonly at: number; readonly summary: ExportSummary } | null {
  const { start, read } = formats[format];
  const at = tail.lastIndexOf(start);
  try {
    return at < 0 ? null : { at, summary: read(tail.subarray(at).toString()) };
  } catch {
    return null;
  }
}

/**
 * Reads an export file back from the disk and verifies it against its summary.
 * @throws Error if the summary is missing, or does not match the bytes before it
 */
export async function verifyExport(file: string, format: keyof typeof formats): Promise<ExportSummary> {
  const handle = await open(file);
  const { size } = await handle.stat();
  const from = Math.max(0, size - longest);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(longest), 0, longest, from);
  await handle.close();
  const tail = buffer.subarray(0, bytesRead);
  const end = summaryIn(tail, format);
  if (end === null) throw new Error(`${file} is incomplete: it has no summary`);
  const { at, summary } = end;
  const found = await digestOf(file, from + at);
  if (found !== summary.sha256)
    throw new Error(`${file} is damaged: its SHA-256 is ${found}, and its summary says ${summary.sha256}`);
  return summary;
}
