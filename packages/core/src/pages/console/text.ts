import type { Language } from '../../scopes.ts';
import type { ConsoleWords } from './words.ts';
import { english } from './words-en.ts';
import { french } from './words-fr.ts';

/** The words in every language; one that is missing does not compile. */
export const consoleWords: { readonly [L in Language]: ConsoleWords } = { en: english, fr: french };
