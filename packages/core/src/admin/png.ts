import { crc32 } from 'node:zlib';
import { fieldProblems } from '../text/field-problems.ts';
import { pixelProblem } from './png-pixels.ts';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const maxBytes = 64 * 1024;

/** Smallest and largest side of a logo, in pixels. */
const sides = { least: 32, most: 1024 } as const;

/** A chunk of a PNG: its type and data. */
interface Chunk {
  readonly name: string;
  readonly data: Buffer;
}

/**
 * Chunks that the PNG file of a logo may have, each with the chunks that must not precede it (PNG, third
 * edition, section 5.6). Chunks with compressed data of their own (`iCCP`, `zTXt`, `iTXt`) are missing
 * because a viewer can expand each of them a thousandfold. Animations (`acTL`, `fcTL`, `fdAT`) are missing
 * because they show another picture than the one an administrator checked, and `eXIf` because it can say
 * where a photograph was taken.
 */
const neverAfter = new Map<string, readonly string[]>([
  ['IHDR', []],
  ['cHRM', ['PLTE', 'IDAT']],
  ['gAMA', ['PLTE', 'IDAT']],
  ['sBIT', ['PLTE', 'IDAT']],
  ['sRGB', ['PLTE', 'IDAT']],
  ['PLTE', ['bKGD', 'hIST', 'tRNS', 'IDAT']],
  ['bKGD', ['IDAT']],
  ['hIST', ['IDAT']],
  ['tRNS', ['IDAT']],
  ['pHYs', ['IDAT']],
  ['IDAT', []],
  ['tIME', []],
  ['tEXt', []],
  ['IEND', []],
]);

const repeatable: ReadonlySet<string> = new Set(['IDAT', 'tEXt']);

/** Throws the error for a logo that is refused. @throws TypeError always */
function refuse(problem: string): never {
  throw new TypeError(`logo: ${problem}`);
}

/**
 * Reads the chunks of a PNG up to its end, and checks their checksums (section 5.3). @throws TypeError if the
 * file is damaged
 */
function readChunks(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = signature.length; at + 12 <= png.length; ) {
    const end = at + 12 + png.readUInt32BE(at);
    if (end > png.length) break;
    const name = png.toString('latin1', at + 4, at + 8);
    if (crc32(png.subarray(at + 4, end - 4)) !== png.readUInt32BE(end - 4))
      refuse(fieldProblems.logo_damaged);
    chunks.push({ name, data: png.subarray(at + 8, end - 4) });
    if (name === 'IEND') {
      if (end !== png.length) refuse('has more after its end');
      return chunks;
    }
    at = end;
  }
  return refuse('ends early');
}

/**
 * Checks that each chunk of a logo's PNG is allowed, in its right place, and not repeated. @throws TypeError
 * if not
 */
function checkOrder(chunks: readonly Chunk[]): void {
  const seen = new Set<string>();
  let previous = '';
  for (const { name } of chunks) {
    const forbidden = neverAfter.get(name);
    if (forbidden === undefined) {
      const chunk = /^[A-Za-z]{4}$/.test(name) ? `the chunk ${name}` : 'an unknown chunk';
      refuse(`has ${chunk}: ${fieldProblems.logo_plain}`);
    }
    if (seen.has(name) && !repeatable.has(name)) refuse(`has the chunk ${name} twice`);
    const isSeparated = name === 'IDAT' && seen.has('IDAT') && previous !== 'IDAT';
    if (isSeparated || forbidden.some((other) => seen.has(other)))
      refuse(`has the chunk ${name} in a wrong place`);
    seen.add(name);
    previous = name;
  }
}

/**
 * Checks that bytes are a PNG for a logo: square, without animation, of bounded size, and decodable. @throws
 * TypeError if not
 */
export function checkPng(bytes: Uint8Array): void {
  if (!(bytes instanceof Uint8Array)) refuse('has to be bytes');
  if (bytes.length > maxBytes) refuse(fieldProblems.logo_bytes.replace('#', String(maxBytes)));
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const startsAsPng = png.subarray(0, 8).equals(signature) && png.readUInt32BE(8) === 13;
  if (png.length < 33 || !startsAsPng || png.toString('latin1', 12, 16) !== 'IHDR')
    refuse(fieldProblems.logo_png);
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  if (width !== height) refuse(`${fieldProblems.logo_square} (${width} × ${height})`);
  if (width < sides.least || width > sides.most) refuse(`${fieldProblems.logo_pixels} (${width})`);
  const chunks = readChunks(png);
  checkOrder(chunks);
  const dataOf = (wanted: string) => chunks.filter(({ name }) => name === wanted).map(({ data }) => data);
  const problem = pixelProblem({
    header: Buffer.concat(dataOf('IHDR')),
    palette: dataOf('PLTE')[0] ?? null,
    transparency: dataOf('tRNS')[0] ?? null,
    compressed: Buffer.concat(dataOf('IDAT')),
  });
  if (problem !== null) refuse(problem);
}
