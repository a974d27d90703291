import { negotiateLanguage } from '@ostiary/core/console';
import { english, type Words } from './en/index.ts';

/** The words in every language; one that is missing does not compile. Others than English are loaded when somebody asks for them. */
export const allWords = {
  en: async () => english,
  fr: async () => (await import('./fr/index.ts')).french,
  ht: async () => (await import('./ht/index.ts')).creole,
  es: async () => (await import('./es/index.ts')).spanish,
  pt: async () => (await import('./pt/index.ts')).portuguese,
} satisfies { readonly [tag: string]: () => Promise<Words> };

/** A language of the console. */
export type Language = keyof typeof allWords;

/** The first one is for those who ask for none of them. */
export const languages = Object.keys(allWords) as readonly Language[];

/** What a page is written in: words, and the language that its dates are in. */
export interface Voice {
  readonly language: Language;
  readonly words: Words;
}

/** The voice that a browser asks for. */
export async function voiceOf(acceptLanguage: string | undefined): Promise<Voice> {
  const language = negotiateLanguage(undefined, acceptLanguage, languages);
  return { language, words: await allWords[language]() };
}

/** What has just happened. */
export type Notice = keyof Words['notices'];

/** Whether a parameter of an address is the name of a notice. */
export function isNotice(name: string | null): name is Notice {
  return name !== null && Object.hasOwn(english.notices, name);
}
