import { z } from 'zod';

/**
 * What does not show, or turns what follows around: control and format characters, line ends, lone surrogates. U+200C and
 * U+200D are not among them: Persian, the scripts of India and families of emoji are written with them.
 */
const deceiving = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A name that people are shown, which may be empty. Only what is given is checked: stored ones stay as they are. */
export const shownName = z
  .string()
  .trim()
  .max(100)
  .superRefine((name, context) => {
    const [found] = deceiving.exec(name) ?? [];
    if (found !== undefined) {
      context.addIssue({
        code: 'custom',
        message: `must not contain control, invisible or direction characters (${codeOf(found)})`,
      });
    } else if (name !== '' && !visible.test(name)) {
      context.addIssue({ code: 'custom', message: 'must contain a letter, a digit or a sign' });
    }
  });

/** {@link shownName} of 1 to 100 characters. */
export const requiredName = shownName.refine((name) => name !== '', 'must not be empty');
