import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import { checkPng } from '../../src/admin/png.ts';
import { chunk, type Header, header, rows, signature } from '../support/png.ts';

const plain: Header = { side: 32, color: 'rgba', depth: 8, isInterlaced: false };
const end = chunk('IEND', Buffer.alloc(0));
const data = (of: Header = plain) => chunk('IDAT', deflateSync(rows(of)));
const palette = (entries: number) => chunk('PLTE', Buffer.alloc(entries * 3, 0x7f));
const transparency = (bytes: number) => chunk('tRNS', Buffer.alloc(bytes));
const file = (...chunks: readonly Buffer[]) => Buffer.concat([signature, ...chunks]);
const around = (...before: readonly Buffer[]) => file(header(plain), ...before, data(), end);
/** Compressed data that expands a thousandfold: 40 KiB become 40 MiB. */
const bomb = deflateSync(Buffer.alloc(40 << 20), { level: 9 });
const text = (name: string, ...parts: readonly Uint8Array[]) =>
  chunk(name, Buffer.concat([Buffer.from('Title\0'), ...parts]));
const byte = (value: number) => Buffer.from([value]);

/** Builds a PNG header with another byte at the given position of its data. */
function headerWith(place: number, value: number): Buffer {
  const fields = Buffer.from(header(plain).subarray(8, 21));
  fields[place] = value;
  return chunk('IHDR', fields);
}

describe('a PNG is refused', () => {
  it.each([
    ['a second IHDR', around(header({ ...plain, side: 1024 })), 'the chunk IHDR twice'],
    ['an animation', around(chunk('acTL', Buffer.from('0000000200000000', 'hex'))), 'the chunk acTL'],
    ['a frame', around(chunk('fcTL', Buffer.alloc(26))), 'the chunk fcTL'],
    ['data of a frame', file(header(plain), data(), chunk('fdAT', Buffer.alloc(8)), end), 'the chunk fdAT'],
    ['compressed text', around(text('zTXt', byte(0), bomb)), 'the chunk zTXt'],
    ['international text', around(text('iTXt', Buffer.from([1, 0, 0, 0]), bomb)), 'the chunk iTXt'],
    ['a color profile', around(text('iCCP', byte(0), bomb)), 'the chunk iCCP'],
    ['where it was taken', around(chunk('eXIf', Buffer.from('MM\0*'))), 'the chunk eXIf'],
    ['a private chunk', around(chunk('prVW', Buffer.alloc(4))), 'the chunk prVW'],
    ['a name that is no text', around(chunk('\x1b[2J', Buffer.alloc(0))), 'an unknown chunk'],
    ['more pixels than it says', file(header(plain), chunk('IDAT', bomb), end), 'other data'],
    ['fewer', file(header(plain), chunk('IDAT', deflateSync(rows(plain).subarray(1))), end), 'other data'],
    ['no pixels', file(header(plain), end), 'other data'],
    ['pixels that are damaged', file(header(plain), chunk('IDAT', Buffer.alloc(40, 1)), end), 'other data'],
    [
      'a filter of its own',
      file(header(plain), chunk('IDAT', deflateSync(rows(plain).fill(5))), end),
      'other data',
    ],
    ['data in two places', file(header(plain), data(), text('tEXt'), data(), end), 'IDAT in a wrong place'],
    ['two palettes', around(palette(2), palette(3)), 'the chunk PLTE twice'],
    ['a late palette', file(header(plain), data(), palette(2), end), 'PLTE in a wrong place'],
    ['a palette behind its transparency', around(transparency(2), palette(2)), 'PLTE in a wrong place'],
    ['a broken palette', around(chunk('PLTE', Buffer.alloc(4))), 'a palette that does not fit'],
    ['transparency beside alpha', around(transparency(2)), 'a transparency that does not fit'],
    [
      'indexes without a palette',
      file(header({ ...plain, color: 'indexed' }), data(), end),
      'a palette that',
    ],
    ['a color type that does not exist', file(headerWith(9, 5), data(), end), 'no PNG that viewers know'],
    ['a depth that does not exist', file(headerWith(8, 3), data(), end), 'no PNG that viewers know'],
    ['another compression', file(headerWith(10, 1), data(), end), 'no PNG that viewers know'],
    ['another filter', file(headerWith(11, 1), data(), end), 'no PNG that viewers know'],
    ['another interlace', file(headerWith(12, 2), data(), end), 'no PNG that viewers know'],
  ])('with %s', (_what, png, problem) => {
    expect(() => checkPng(png)).toThrow(new RegExp(`^logo: has? ?.*${problem}|^logo: is .*${problem}`));
  });

  it('without inflating more than its pixels', () => {
    const before = process.memoryUsage().arrayBuffers;
    expect(() => checkPng(file(header(plain), chunk('IDAT', bomb), end))).toThrow(TypeError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20);
  });
});

interface NamedChunk {
  readonly name: string;
  readonly bytes: Buffer;
}

const formats = (
  [
    ['grey', 1, 2, 4, 8, 16],
    ['rgb', 8, 16],
    ['indexed', 1, 2, 4, 8],
    ['greyAlpha', 8, 16],
    ['rgba', 8, 16],
  ] as const
).flatMap(([color, ...depths]) => depths.map((depth) => ({ color, depth })));

/** Generates valid PNG headers of every format. */
const headers: fc.Arbitrary<Header> = fc
  .record({
    format: fc.constantFrom(...formats),
    side: fc.integer({ min: 32, max: 70 }),
    isInterlaced: fc.boolean(),
  })
  .map(({ format, ...rest }) => ({ ...format, ...rest }));

/** Builds data of an ancillary PNG chunk that matches a header. */
function ancillary(name: string, { color, depth }: Header): Buffer {
  const samples = { grey: 1, rgb: 3, indexed: 3, greyAlpha: 2, rgba: 4 }[color];
  const background = { grey: 2, rgb: 6, indexed: 1, greyAlpha: 2, rgba: 6 }[color];
  const values: { readonly [name: string]: () => Buffer } = {
    cHRM: () => Buffer.alloc(32, 1),
    gAMA: () => Buffer.from([0, 0, 0xb1, 0x8f]),
    sBIT: () => Buffer.alloc(samples, color === 'indexed' ? 8 : depth),
    sRGB: () => byte(0),
    bKGD: () => Buffer.alloc(background),
    hIST: () => Buffer.alloc(4),
    tRNS: () => Buffer.alloc(color === 'grey' ? 2 : color === 'rgb' ? 6 : 1),
    pHYs: () => Buffer.alloc(9),
    tIME: () => Buffer.from([7, 0xea, 11, 27, 1, 1, 1]),
    tEXt: () => Buffer.from('Comment\0text'),
    PLTE: () => Buffer.alloc(6, 0x40),
  };
  return chunk(name, values[name]?.() ?? Buffer.alloc(0));
}

/** Generates the chunks of a correct PNG file, in the recommended order. */
const files = headers.chain((of) => {
  const optional = ['cHRM', 'gAMA', 'sBIT', 'sRGB'];
  const palette = of.color === 'grey' || of.color === 'greyAlpha' ? [] : ['PLTE'];
  const behind = [...['bKGD', 'pHYs'], ...(of.color === 'greyAlpha' || of.color === 'rgba' ? [] : ['tRNS'])];
  const some = (names: readonly string[]) => fc.shuffledSubarray([...names]);
  const texts = fc.subarray(['tEXt', 'tIME']);
  const compressed = deflateSync(rows(of));
  return fc
    .tuple(
      some(optional),
      of.color === 'indexed' ? fc.constant(palette) : some(palette),
      some(behind),
      texts,
      texts,
      fc.nat(compressed.length),
    )
    .map(([first, color, second, late, last, cut]) => {
      const once = new Set(late);
      const named = (names: readonly string[]) => names.map((name) => ({ name, bytes: ancillary(name, of) }));
      return [
        { name: 'IHDR', bytes: header(of) },
        ...named([...first, ...color, ...second, ...late]),
        { name: 'IDAT', bytes: chunk('IDAT', compressed.subarray(0, cut)) },
        { name: 'IDAT', bytes: chunk('IDAT', compressed.subarray(cut)) },
        ...named(last.filter((name) => name === 'tEXt' || !once.has(name))),
        { name: 'IEND', bytes: end },
      ];
    });
});

const bytesOf = (chunks: readonly NamedChunk[]) => file(...chunks.map(({ bytes }) => bytes));

/** Order of chunks that the recommendation accepts (section 5.6), written independently of the code. */
const order =
  /^IHDR (?:(?:(?:cHRM|gAMA|sBIT|sRGB|pHYs|tEXt|tIME) )*PLTE (?:(?:bKGD|tRNS|pHYs|tEXt|tIME) )*|(?:(?:cHRM|gAMA|sBIT|sRGB|bKGD|tRNS|pHYs|tEXt|tIME) )*)(?:IDAT )+(?:(?:tEXt|tIME) )*IEND $/;

describe('the order of chunks', () => {
  it('is right in every file that follows the recommendation', () => {
    fc.assert(fc.property(files, (chunks) => checkPng(bytesOf(chunks))));
  });

  it('is checked when chunks change places: a file is accepted if they may stand there', () => {
    const moved = files.chain((chunks) =>
      fc.tuple(fc.nat(chunks.length - 1), fc.nat(chunks.length - 1)).map(([from, to]) => {
        const all = [...chunks];
        all.splice(to, 0, ...all.splice(from, 1));
        return { chunks, all };
      }),
    );
    // Compare without length, name and checksum, because an empty chunk may stand anywhere among the others.
    const pixels = (chunks: readonly NamedChunk[]) =>
      Buffer.concat(
        chunks.filter(({ name }) => name === 'IDAT').map(({ bytes }) => bytes.subarray(8, -4)),
      ).toString('hex');
    let accepted = 0;
    fc.assert(
      fc.property(moved, ({ chunks, all }) => {
        const isRight =
          order.test(all.map(({ name }) => `${name} `).join('')) && pixels(all) === pixels(chunks);
        accepted += isRight ? 1 : 0;
        if (isRight) checkPng(bytesOf(all));
        else expect(() => checkPng(bytesOf(all))).toThrow(TypeError);
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(50);
    expect(accepted).toBeLessThan(450);
  });

  it('has each chunk once', () => {
    const doubled = files.chain((chunks) =>
      fc.constantFrom(...chunks.filter(({ name }) => name !== 'IDAT' && name !== 'tEXt')).map((twice) => {
        const at = chunks.indexOf(twice);
        return [...chunks.slice(0, at), twice, ...chunks.slice(at)];
      }),
    );
    fc.assert(
      fc.property(doubled, (chunks) => {
        expect(() => checkPng(bytesOf(chunks))).toThrow(TypeError);
      }),
    );
  });

  it('has no chunk of an unknown name, wherever it stands', () => {
    const foreign = fc
      .tuple(files, fc.stringMatching(/^[a-zA-Z]{4}$/), fc.nat(20))
      .map(([chunks, name, at]) => {
        const all = [...chunks];
        all.splice(Math.min(at + 1, all.length - 1), 0, { name, bytes: chunk(name, Buffer.alloc(4)) });
        return { name, bytes: bytesOf(all) };
      });
    fc.assert(
      fc.property(foreign, ({ name, bytes }) => {
        const known = /^(IHDR|PLTE|IDAT|IEND|cHRM|gAMA|sBIT|sRGB|bKGD|hIST|tRNS|pHYs|tIME|tEXt)$/;
        fc.pre(!known.test(name));
        expect(() => checkPng(bytes)).toThrow(/chunk/);
      }),
    );
  });
});

describe('Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  it('decodes what is accepted', async () => {
    const pictures = fc.sample(files, 300).map(bytesOf);
    for (const picture of pictures) checkPng(picture);
    const page = await browser.newPage();
    const sides = await page.evaluate(
      async (encoded) => {
        const decode = async (base64: string) => {
          const response = await fetch(`data:image/png;base64,${base64}`);
          return (await createImageBitmap(await response.blob())).width;
        };
        return Promise.all(encoded.map((base64) => decode(base64).catch(() => 0)));
      },
      pictures.map((picture) => picture.toString('base64')),
    );
    expect(sides).toEqual(pictures.map((picture) => picture.readUInt32BE(16)));
    await page.close();
  });
});
