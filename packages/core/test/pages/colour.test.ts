import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contrast, type Palette, palettes } from '../../src/pages/colour.ts';
import { stylesheet } from '../../src/pages/style.ts';

const colours = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`);

/** Text colours, including letters of monograms, with the backgrounds on which the style sheet uses them. */
const readable: readonly (readonly [text: keyof Palette, backgrounds: readonly (keyof Palette)[]])[] = [
  ['text', ['canvas', 'surface', 'well']],
  ['muted', ['canvas', 'surface', 'well']],
  ['accent', ['canvas', 'surface', 'well', 'tint']],
  ['onBrand', ['brand', 'brandHover']],
  ['good', ['goodTint']],
  ['warning', ['warningTint']],
];

it.each([
  ['#000000', 21],
  ['#ffffff', 1],
  ['#777777', 4.478],
  ['#0000ff', 8.592],
])('the contrast of %s to white is the ratio of WCAG', (colour, ratio) => {
  expect(contrast(colour, '#ffffff')).toBeCloseTo(ratio, 3);
});

describe('palettes', () => {
  it('make every text readable and every border visible, with any theme colour', () => {
    const isReadable = (colour: string) => {
      for (const palette of Object.values(palettes(colour))) {
        const contrastOf = (text: keyof Palette) => (background: keyof Palette) =>
          contrast(palette[text], palette[background]);
        for (const [text, backgrounds] of readable)
          expect(Math.min(...backgrounds.map(contrastOf(text))), text).toBeGreaterThanOrEqual(4.5);
        for (const background of ['surface', 'well'] as const)
          expect(contrastOf('border')(background)).toBeGreaterThanOrEqual(3);
      }
    };
    const examples: [string][] = [['#ffffff'], ['#000000'], ['#767676'], ['#ffff00']];
    fc.assert(fc.property(colours, isReadable), { numRuns: 200, examples });
  });

  it('leave a colour that already reads as it is, with black on bright ones and white on deep ones', () => {
    const [deep, bright] = [palettes('#1A4F8B').light, palettes('#f4b400').light];
    expect(deep).toMatchObject({ accent: '#1a4f8b', brand: '#1a4f8b', onBrand: '#ffffff' });
    expect(bright).toMatchObject({ brand: '#f4b400', onBrand: '#000000' });
    expect(bright.accent).not.toBe('#f4b400');
  });
});

it('the style sheet defines what it uses for both colour schemes, loads nothing and needs no quotes', () => {
  const css = stylesheet({ name: 'Kòb', colour: '#1a4f8b' });
  const used = new Set([...css.matchAll(/var\((--[a-z-]+)\)/g)].map(([, name]) => name));
  expect(used.size).toBeGreaterThan(10);
  for (const name of used) expect(css.split(`${name}: #`).length - 1, name).toBe(2);
  expect(css).not.toMatch(/[&<>"']|url\(|@import|@font-face/);
});
