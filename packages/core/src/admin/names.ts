import { z } from 'zod';

/**
 * Matches characters that show nothing or reorder text: control and format characters, line ends, lone surrogates, and the letters
 * and signs without a shape (fillers of Hangul, inherent vowels of Khmer, the blank of Braille). U+200C and U+200D are allowed:
 * Persian, the scripts of India and families of emoji are written with them.
 */
const deceiving =
  /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;

const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** The first deceiving character, as `U+202E`. */
const deceivingIn = (name: string): string =>
  `U+${(deceiving.exec(name)?.[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A name that people are shown, which may be empty. Only what is given is checked: stored ones stay as they are. */
export const shownName = z
  .string()
  .trim()
  .max(100)
  .refine((name) => !deceiving.test(name), {
    abort: true,
    error: ({ input }) =>
      `must not contain control, invisible or direction characters (${deceivingIn(String(input))})`,
  })
  .refine((name) => name === '' || visible.test(name), 'must contain a letter, a digit or a sign');

/** {@link shownName} of 1 to 100 characters. */
export const requiredName = shownName.refine((name) => name !== '', 'must not be empty');
