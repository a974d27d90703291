import { z } from 'zod';
import { fieldProblems } from '../text/field-problems.ts';

/**
 * Matches characters that are invisible in a name or change its reading order: control and format characters,
 * line ends, lone surrogates, and letters and signs without a shape (fillers of Hangul, inherent vowels of
 * Khmer, the blank of Braille). U+200C and U+200D are allowed: Persian, the scripts of India and families of
 * emoji need them.
 */
const deceiving =
  /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;

const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Returns the first invisible or reordering character of a name, as `U+202E`. */
const deceivingIn = (name: string): string =>
  `U+${(deceiving.exec(name)?.[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Schema for a name that users see on pages; the name may be empty. Only input is checked: stored names are
 * not checked again.
 */
export const shownName = z
  .string()
  .trim()
  .max(100)
  .refine((name) => !deceiving.test(name), {
    abort: true,
    error: ({ input }) =>
      `must not contain control, invisible or direction characters (${deceivingIn(String(input))})`,
  })
  .refine((name) => name === '' || visible.test(name), fieldProblems.name_invisible);

/** Schema for a {@link shownName} of 1 to 100 characters. */
export const requiredName = shownName.refine((name) => name !== '', fieldProblems.name_empty);
