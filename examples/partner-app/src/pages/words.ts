import { readFileSync } from 'node:fs';
import type { Context } from 'koa';
import type en from '../../texts/en.json';

export const languages = ['en', 'fr', 'ht', 'es', 'pt'] as const;

/** Texts, in one language, of the pages for the shop's customers. Pages for developers are in English. */
export type Words = typeof en & { readonly language: string };

const wordsIn = (language: string): Words => {
  const file = new URL(`../../texts/${language}.json`, import.meta.url);
  return { ...JSON.parse(readFileSync(file, 'utf8')), language };
};

const known = new Map<string, Words>(languages.map((language) => [language, wordsIn(language)]));

export const english = wordsIn('en');

/** Returns the texts of the customers' pages in the language that the browser prefers. */
export const wordsFor = (ctx: Context): Words =>
  known.get(ctx.acceptsLanguages(...languages) || 'en') ?? english;
