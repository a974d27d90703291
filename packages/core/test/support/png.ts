import { crc32, deflateSync } from 'node:zlib';

/** Makes a chunk of a PNG file. */
export function chunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Makes a grey PNG picture. */
export function png(width: number, height = width, filler = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...(filler > 0 ? [chunk('tEXt', Buffer.alloc(filler, 'a'))] : []),
    chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Makes a PNG of exactly `count` bytes. */
export const ofBytes = (count: number): Buffer =>
  png(64, 64, count - png(64).length - chunk('tEXt', Buffer.alloc(0)).length);

/** First eight bytes of every PNG. */
export const signature = Buffer.from('89504e470d0a1a0a', 'hex');

/** Colour types of PNG: the value in the header, and the number of samples per pixel. */
const colors = {
  grey: { type: 0, samples: 1 },
  rgb: { type: 2, samples: 3 },
  indexed: { type: 3, samples: 1 },
  greyAlpha: { type: 4, samples: 2 },
  rgba: { type: 6, samples: 4 },
} as const;

/** Values in the header of a PNG file. */
export interface Header {
  readonly side: number;
  readonly color: keyof typeof colors;
  readonly depth: number;
  readonly isInterlaced: boolean;
}

/** Makes the PNG chunk `IHDR` (the header). */
export function header({ side, color, depth, isInterlaced }: Header): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(side, 0);
  data.writeUInt32BE(side, 4);
  data.set([depth, colors[color].type, 0, 0, isInterlaced ? 1 : 0], 8);
  return chunk('IHDR', data);
}

/**
 * Makes the bytes of the pixel rows of a black picture. With interlacing, each pixel belongs to a pass
 * according to PNG's table of eight by eight pixels.
 */
export function rows({ side, color, depth, isInterlaced }: Header): Buffer {
  const table = [
    '16462646',
    '77777777',
    '56565656',
    '77777777',
    '36463646',
    '77777777',
    '56565656',
    '77777777',
  ];
  const widths = new Map<string, number>();
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      const pass = isInterlaced ? (table[row % 8] ?? '')[column % 8] : '1';
      const key = `${pass} ${row}`;
      widths.set(key, (widths.get(key) ?? 0) + 1);
    }
  }
  const bits = colors[color].samples * depth;
  return Buffer.alloc(
    [...widths.values()].reduce((sum, width) => sum + 1 + Math.ceil((width * bits) / 8), 0),
  );
}
