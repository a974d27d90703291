import { parseArgs } from 'node:util';

/**
 * Parses command-line options of the form `--name value` with whole numbers.
 * @throws TypeError for an unknown option, or a value that is no whole number
 */
export function numbersFrom<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const names = Object.keys(defaults) as Name[];
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  });
  const chosen: Record<Name, number> = { ...defaults };
  for (const name of names) {
    const text = values[name];
    if (typeof text !== 'string') continue;
    if (!/^[0-9]{1,10}$/.test(text)) throw new TypeError(`--${name}: ${text} is no number`);
    chosen[name] = Number(text);
  }
  return chosen;
}

/** Returns a random generator of numbers from 0 up to 1 that depend on the seed alone (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
