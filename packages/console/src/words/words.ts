import { type Language, negotiateLanguage } from '@ostiary/core/console';
import { english, type Words } from './en/index.ts';
import { french } from './fr/index.ts';

/** The words in every language; one that is missing does not compile. */
export const allWords: { readonly [L in Language]: Words } = { en: english, fr: french };

/** What a page is written in: words, and the language that its dates are in. */
export interface Voice {
  readonly language: Language;
  readonly words: Words;
}

/** The voice that a browser asks for. */
export function voiceOf(acceptLanguage: string | undefined): Voice {
  const language = negotiateLanguage(undefined, acceptLanguage);
  return { language, words: allWords[language] };
}

/** What has just happened. */
export type Notice = keyof Words['notices'];

/** Whether a parameter of an address is the name of a notice. */
export function isNotice(name: string | null): name is Notice {
  return name !== null && Object.hasOwn(english.notices, name);
}
