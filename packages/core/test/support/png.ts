import { crc32, deflateSync } from 'node:zlib';

/** A chunk of a PNG. */
export function chunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A grey picture. */
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

/** One of so many bytes. */
export const ofBytes = (count: number): Buffer =>
  png(64, 64, count - png(64).length - chunk('tEXt', Buffer.alloc(0)).length);
