import { parseArgs } from 'node:util';

type Numbers = Readonly<Record<string, number>>;
type Lists = Readonly<Record<string, readonly string[]>>;

/**
 * Reads `--name value` of whole numbers.
 * @param lists - options that take some of these names, with commas between
 * @throws TypeError for an option that is unknown or no number
 */
export function numbersFrom<Defaults extends Numbers, Choices extends Lists = Record<never, never>>(
  defaults: Defaults,
  lists?: Choices,
): { readonly [name in keyof Defaults]: number } & Choices {
  const known: Numbers & Lists = { ...defaults, ...lists } as Numbers & Lists;
  const { values } = parseArgs({
    options: Object.fromEntries(Object.keys(known).map((name) => [name, { type: 'string' as const }])),
  });
  const chosen = (name: string, preset: number | readonly string[]) => {
    const text = values[name];
    if (typeof text !== 'string') return preset;
    if (typeof preset === 'number') {
      if (!/^[0-9]{1,10}$/.test(text)) throw new TypeError(`--${name}: ${text} is no number`);
      return Number(text);
    }
    const unknown = text.split(',').find((one) => !preset.includes(one));
    if (unknown !== undefined) throw new TypeError(`--${name}: there is no ${unknown}`);
    return text.split(',');
  };
  const read = Object.entries(known).map(([name, preset]) => [name, chosen(name, preset)]);
  return Object.fromEntries(read);
}

/** Numbers from 0 up to 1 that depend on nothing but the seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
