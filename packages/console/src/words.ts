import { negotiateLanguage } from '@ostiary/core/pages';
import en from '../languages/en.json' with { type: 'json' };

type Texts<English> = {
  readonly [Name in keyof English]: English[Name] extends string ? string : Texts<English[Name]>;
};

/** All texts of the console in one language, as ICU messages. */
export type Words = Texts<typeof en>;

/** Languages of the console. The first is used for browsers that request none of them. */
export const languages = ['en', 'fr', 'ht', 'es', 'pt'] as const;

/** A language of the console. */
export type Language = (typeof languages)[number];

/**
 * Texts of all languages. A missing text does not compile. Languages other than English are loaded when a
 * browser requests them.
 */
export const allWords = {
  en: async () => en,
  fr: async () => (await import('../languages/fr.json', { with: { type: 'json' } })).default,
  ht: async () => (await import('../languages/ht.json', { with: { type: 'json' } })).default,
  es: async () => (await import('../languages/es.json', { with: { type: 'json' } })).default,
  pt: async () => (await import('../languages/pt.json', { with: { type: 'json' } })).default,
} satisfies { readonly [Tag in Language]: () => Promise<Words> };

/** Language of a console page, with the page texts in it. */
export interface Voice {
  readonly language: Language;
  readonly words: Words;
}

/** Returns the language that fits an `Accept-Language` header best, with its texts. */
export async function voiceOf(acceptLanguage: string | undefined): Promise<Voice> {
  const language = negotiateLanguage(undefined, acceptLanguage, languages);
  return { language, words: await allWords[language]() };
}

/** Name of a message about the last action. */
export type Notice = keyof Words['notices'];

/** Checks whether a parameter of a URL is the name of a message about an action. */
export function isNotice(name: string | null): name is Notice {
  return name !== null && Object.hasOwn(en.notices, name);
}
