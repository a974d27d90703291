import { readFileSync } from 'node:fs';
import { type Html, html } from '@ostiary/web-kit';
import type { Context } from 'koa';
import type en from '../../texts/en.json';

export const languages = ['en', 'fr', 'ht', 'es', 'pt'] as const;

/** What the pages of customers say, in one language. Those for developers are in English. */
export type Words = typeof en & { readonly language: string };

const wordsIn = (language: string): Words => {
  const file = new URL(`../../texts/${language}.json`, import.meta.url);
  return { ...JSON.parse(readFileSync(file, 'utf8')), language };
};

const known = new Map<string, Words>(languages.map((language) => [language, wordsIn(language)]));

export const english = wordsIn('en');

/** In the language that the browser prefers. */
export const wordsFor = (ctx: Context): Words =>
  known.get(ctx.acceptsLanguages(...languages) || 'en') ?? english;

/** Puts something into the gaps of a text, such as `{name}`. */
export function fill(text: string, values: Readonly<Record<string, string | Html>>): Html {
  const parts = text.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 0 ? part : (values[part] ?? '')));
  return html`${parts.map((part) => html`${part}`)}`;
}

/** The same where there is no markup. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
