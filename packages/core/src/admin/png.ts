import { crc32 } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const maxBytes = 64 * 1024;

/** The smallest and the largest side, in pixels. */
const sides = { least: 32, most: 1024 } as const;

/** What is wrong with the chunks of a PNG (section 5.3 of the W3C recommendation); `null` when it is whole and nothing follows it. */
function chunkProblem(png: Buffer): string | null {
  for (let at = signature.length; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > png.length) return 'ends early';
    const name = png.toString('latin1', at + 4, at + 8);
    if (crc32(png.subarray(at + 4, end - 4)) !== png.readUInt32BE(end - 4)) return 'is damaged';
    if (name === 'IEND') return end === png.length ? null : 'has more after its end';
    at = end;
  }
  return 'ends early';
}

/** @throws TypeError for what is no square PNG, or a large one */
export function checkPng(bytes: Uint8Array): void {
  const refuse = (problem: string): never => {
    throw new TypeError(`logo: ${problem}`);
  };
  if (!(bytes instanceof Uint8Array)) refuse('has to be bytes');
  if (bytes.length > maxBytes) refuse(`may have ${maxBytes} bytes at most`);
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!png.subarray(0, 8).equals(signature) || png.length < 33 || png.toString('latin1', 12, 16) !== 'IHDR')
    refuse('is no PNG');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  if (width !== height) refuse(`has to be square, and is ${width} × ${height}`);
  if (width < sides.least || width > sides.most)
    refuse(`has to have ${sides.least} to ${sides.most} pixels on a side, and has ${width}`);
  const problem = chunkProblem(png);
  if (problem !== null) refuse(problem);
}
