/** A colour as red, green and blue, each from 0 to 255. */
type Rgb = readonly [red: number, green: number, blue: number];

function parse(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function channelLight(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function luminance(colour: string): number {
  const [red, green, blue] = parse(colour);
  return 0.2126 * channelLight(red) + 0.7152 * channelLight(green) + 0.0722 * channelLight(blue);
}

/** Computes the contrast of two colours written `#rrggbb`, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** Mixes two colours: `share` (0 to 1) of the way from the first to the second. */
export function mix(from: string, to: string, share: number): string {
  const target = parse(to);
  const channels = parse(from).map((channel, index) =>
    Math.round(channel + ((target[index] ?? 0) - channel) * share),
  );
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** Chooses white or black text for a background, so that the contrast is at least 4.5. */
export function readableOn(background: string): '#ffffff' | '#000000' {
  return contrast(background, '#ffffff') >= 4.5 ? '#ffffff' : '#000000';
}

/**
 * Returns the colour or, if its contrast is too low for text, the nearest mix with `end` that is readable on
 * all backgrounds.
 */
export function readableText(
  colour: string,
  backgrounds: readonly string[],
  end: string,
  least: number,
): string {
  for (let step = 0; step < 50; step += 1) {
    const candidate = mix(colour, end, step / 50);
    if (backgrounds.every((background) => contrast(candidate, background) >= least)) return candidate;
  }
  return end;
}

/**
 * Derives the light and dark palettes of the pages from any `#rrggbb`. Every text has a contrast of at least
 * 4.5 (WCAG 2.2 AA).
 */
export function palettes(colour: string) {
  const brand = colour.toLowerCase();
  const onBrand = readableOn(brand);
  // The theme's colour unchanged, with a text colour that is readable on it.
  const shared = {
    brand,
    onBrand,
    // Mix away from the text's colour, which only increases the contrast.
    brandHover: mix(brand, onBrand === '#ffffff' ? '#000000' : '#ffffff', 0.16),
  };
  // `canvas` is the page's background, `surface` the card's, and `well` that of a quiet area inside the card.
  const light = {
    canvas: '#f3f4f7',
    surface: '#ffffff',
    well: '#f7f8fa',
    tint: mix('#ffffff', brand, 0.1),
  };
  const dark = {
    canvas: '#0d1014',
    surface: '#161a20',
    well: '#1c2129',
    tint: mix('#161a20', brand, 0.22),
  };
  return {
    light: {
      ...shared,
      ...light,
      text: '#151922',
      muted: '#545d6c',
      line: '#e4e7ec',
      // Borders of controls, with a contrast of at least 3 to 1 (WCAG 2.2, 1.4.11). `line` is decoration,
      // which needs none.
      border: '#858e9d',
      // The theme's colour, darkened until readable: for links, icons, badges and focus.
      accent: readableText(brand, Object.values(light), '#000000', 4.5),
      good: '#0b6640',
      goodTint: '#e6f5ed',
      warning: '#8a4b00',
      warningTint: '#fdf1dd',
    },
    dark: {
      ...shared,
      ...dark,
      text: '#eceff4',
      muted: '#a7b0be',
      line: '#2a303a',
      border: '#6f7a8b',
      // 6 and not 4.5, because on dark screens the minimum contrast seems dull.
      accent: readableText(brand, Object.values(dark), '#ffffff', 6),
      good: '#7fdcae',
      goodTint: '#12291f',
      warning: '#f5c071',
      warningTint: '#2e2413',
    },
  };
}

export type Palette = ReturnType<typeof palettes>['light'];
