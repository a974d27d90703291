import type { en } from './en.ts';

/** The languages of the pages unless the host names others; the first one where a browser asks for none of them. */
export const languages = ['en', 'fr'] as const;

/** A language whose texts ship. */
export type Language = 'en' | 'fr' | 'ht' | 'es' | 'pt';

/** What a scope gives, in plain words. */
export interface ScopeTexts {
  readonly title: string;
  readonly detail: string;
}

/** What the consent page says of one scope, in the languages that ship. */
export type ConsentTexts = { readonly [L in Language]: ScopeTexts };

type Words<English> = {
  readonly [Name in keyof English]: English[Name] extends string ? string : Words<English[Name]>;
};

/** Every word of the pages in one language; what each scope gives stands in the scope table. */
export type Texts = Words<typeof en> & {
  /** Names of the twelve months, where `Intl` does not know the language: dates are then `5 janvye 2026`. */
  readonly months?: readonly string[];
};

/** What the page of an error is about. */
export type ErrorKind = keyof Texts['errors'];

/** What is put into a text stands in braces. */
export const holes = /\{(\w+)\}/;

/** The names in the braces of a text, in the order of the alphabet. */
export function holesOf(template: string): string[] {
  return [...template.matchAll(new RegExp(holes, 'g'))].map(([, name = '']) => name).sort();
}
