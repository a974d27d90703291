import { inflateSync } from 'node:zlib';
import { fieldProblems } from '../text/field-problems.ts';

/** Chunks of a PNG from which its pixels are decoded. */
interface PixelChunks {
  /** Data of the chunk `IHDR` (the header), 13 bytes. */
  readonly header: Buffer;
  /** Data of the chunk `PLTE` (the palette); `null` if there is none. */
  readonly palette: Buffer | null;
  /** Data of the chunk `tRNS` (transparency); `null` if there is none. */
  readonly transparency: Buffer | null;
  /** Joined data of all `IDAT` chunks. */
  readonly compressed: Buffer;
}

/**
 * For each color type of PNG: samples per pixel, and allowed bits per sample (PNG, third edition, section
 * 11.2.1).
 */
const colorTypes: {
  readonly [type: number]: { readonly samples: number; readonly depths: readonly number[] };
} = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};
const [grey, rgb, indexed] = [0, 2, 3];

/**
 * The seven passes of an interlaced PNG: first column and row of each, and the steps between columns and rows
 * (section 8.1).
 */
const passes = [
  { column: 0, row: 0, columns: 8, rows: 8 },
  { column: 4, row: 0, columns: 8, rows: 8 },
  { column: 0, row: 4, columns: 4, rows: 8 },
  { column: 2, row: 0, columns: 4, rows: 4 },
  { column: 0, row: 2, columns: 2, rows: 4 },
  { column: 1, row: 0, columns: 2, rows: 2 },
  { column: 0, row: 1, columns: 1, rows: 2 },
];
const onePass = [{ column: 0, row: 0, columns: 1, rows: 1 }];

/**
 * Returns the lengths of all rows of a PNG in bytes, including the byte that names each row's filter (section
 * 7.2).
 */
function rowLengths(side: number, bitsPerPixel: number, isInterlaced: boolean): number[] {
  return (isInterlaced ? passes : onePass).flatMap(({ column, row, columns, rows }) => {
    const [width, height] = [Math.ceil((side - column) / columns), Math.ceil((side - row) / rows)];
    return Array.from({ length: height }, () => 1 + Math.ceil((width * bitsPerPixel) / 8));
  });
}

/** Checks whether the palette of a PNG fits its color type (section 11.2.2). */
function isPaletteRight(palette: Buffer | null, colorType: number, depth: number): boolean {
  if (palette === null) return colorType !== indexed;
  const entries = palette.length / 3;
  const most = colorType === indexed ? 2 ** depth : 256;
  return (
    colorType !== grey && colorType !== 4 && Number.isInteger(entries) && entries >= 1 && entries <= most
  );
}

/** Checks whether the transparency of a PNG fits its color type (section 11.3.1.1). */
function isTransparencyRight({ palette, transparency }: PixelChunks, colorType: number): boolean {
  if (transparency === null) return true;
  if (colorType === grey) return transparency.length === 2;
  if (colorType === rgb) return transparency.length === 6;
  const entries = (palette?.length ?? 0) / 3;
  return colorType === indexed && transparency.length >= 1 && transparency.length <= entries;
}

/**
 * Inflates compressed data that must have exactly `length` bytes. Stops at that length, so that a small file
 * cannot fill the memory. @returns `null` for damaged data or another length
 */
function inflateExactly(compressed: Buffer, length: number): Buffer | null {
  try {
    const bytes = inflateSync(compressed, { maxOutputLength: length });
    return bytes.length === length ? bytes : null;
  } catch {
    return null;
  }
}

/**
 * Checks whether the pixels of a PNG with a side of at most a few thousand pixels can be decoded. Never
 * inflates more bytes than its rows have.
 * @returns an error text; `null` for a picture that can be decoded
 */
export function pixelProblem(chunks: PixelChunks): string | null {
  const { header, palette, compressed } = chunks;
  const side = header.readUInt32BE(0);
  const [depth, colorType, compression, filter, interlace] = header.subarray(8);
  const isKnown = compression === 0 && filter === 0 && (interlace === 0 || interlace === 1);
  if (!isKnown || depth === undefined || colorType === undefined) return fieldProblems.logo_unknown;
  const color = colorTypes[colorType];
  if (color === undefined || !color.depths.includes(depth)) return fieldProblems.logo_unknown;
  if (!isPaletteRight(palette, colorType, depth)) return 'has a palette that does not fit its colors';
  if (!isTransparencyRight(chunks, colorType)) return 'has a transparency that does not fit its colors';
  const rows = rowLengths(side, color.samples * depth, interlace === 1);
  const pixels = inflateExactly(
    compressed,
    rows.reduce((sum, length) => sum + length, 0),
  );
  if (pixels === null) return 'has other data than its pixels need';
  let at = 0;
  for (const length of rows) {
    if ((pixels[at] ?? 0) > 4) return 'has other data than its pixels need';
    at += length;
  }
  return null;
}
