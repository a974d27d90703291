import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contrast, type Palette, palettes, readableOn } from '../../src/pages/colour.ts';
import { stylesheet } from '../../src/pages/style.ts';

const colours = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`);

/** Which text, letters of monograms included, stands on which backgrounds in the style sheet. */
const readable: readonly (readonly [text: keyof Palette, backgrounds: readonly (keyof Palette)[]])[] = [
  ['text', ['canvas', 'surface', 'well']],
  ['muted', ['canvas', 'surface', 'well']],
  ['accent', ['canvas', 'surface', 'well', 'tint']],
  ['onBrand', ['brand', 'brandHover']],
  ['good', ['goodTint']],
  ['warning', ['warningTint']],
];

describe('contrast', () => {
  it('is the ratio of WCAG', () => {
    expect(contrast('#000000', '#ffffff')).toBe(21);
    expect(contrast('#ffffff', '#ffffff')).toBe(1);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.478, 3);
    expect(contrast('#0000ff', '#ffffff')).toBeCloseTo(8.592, 3);
  });
});

describe('palettes', () => {
  it('make every text readable and every border visible, whatever the theme colour', () => {
    fc.assert(
      fc.property(colours, fc.constantFrom('light' as const, 'dark' as const), (colour, scheme) => {
        const palette = palettes(colour)[scheme];
        for (const [text, backgrounds] of readable) {
          for (const background of backgrounds) {
            expect(
              contrast(palette[text], palette[background]),
              `${text} on ${background}`,
            ).toBeGreaterThanOrEqual(4.5);
          }
        }
        for (const background of ['surface', 'well'] as const) {
          expect(contrast(palette.border, palette[background])).toBeGreaterThanOrEqual(3);
        }
      }),
      {
        numRuns: 400,
        examples: [
          ['#ffffff', 'light'],
          ['#000000', 'dark'],
          ['#767676', 'light'],
          ['#ffff00', 'light'],
        ],
      },
    );
  });

  it('leave a colour that already reads as it is', () => {
    expect(palettes('#1A4F8B').light).toMatchObject({
      accent: '#1a4f8b',
      brand: '#1a4f8b',
      onBrand: '#ffffff',
    });
    expect(palettes('#f4b400').light.accent).not.toBe('#f4b400');
    expect(palettes('#f4b400').light.brand).toBe('#f4b400');
  });

  it('put black on bright colours and white on deep ones', () => {
    expect(readableOn('#ffd400')).toBe('#000000');
    expect(readableOn('#1a4f8b')).toBe('#ffffff');
  });
});

describe('stylesheet', () => {
  it('defines each custom property that it uses, for both colour schemes', () => {
    const css = stylesheet({ name: 'Kòb', colour: '#1a4f8b' });
    const used = new Set([...css.matchAll(/var\((--[a-z-]+)\)/g)].map(([, name]) => name));
    expect(used.size).toBeGreaterThan(10);
    for (const name of used) expect(css.split(`${name}: #`).length - 1, name).toBe(2);
  });

  it('loads nothing and needs no quotes', () => {
    const css = stylesheet({ name: 'Kòb', colour: '#1a4f8b' });
    expect(css).not.toMatch(/[&<>"']|url\(|@import|@font-face/);
  });
});
