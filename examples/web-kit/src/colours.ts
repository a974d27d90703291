type Channels = readonly [red: number, green: number, blue: number];

function channels(colour: string): Channels {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function luminance(colour: string): number {
  const [red, green, blue] = channels(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** Contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const a = luminance(one);
  const b = luminance(other);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** The colour `share` (0 to 1) of the way from one to another. */
export function mix(from: string, to: string, share: number): string {
  const target = channels(to);
  const mixed = channels(from).map((channel, index) =>
    Math.round(channel + ((target[index] ?? 0) - channel) * share)
      .toString(16)
      .padStart(2, '0'),
  );
  return `#${mixed.join('')}`;
}

/** The colour itself or, where it is too faint for text on a background, the nearest step towards `end` that reads. */
export function readable(colour: string, background: string, end: string): string {
  for (let share = 0; share < 1; share += 0.04) {
    const candidate = mix(colour, end, share);
    if (contrast(candidate, background) >= 4.5) return candidate;
  }
  return end;
}

/** White or black, whichever reads on the background. */
export function textOn(background: string): string {
  return contrast(background, '#ffffff') >= 4.5 ? '#ffffff' : '#000000';
}
