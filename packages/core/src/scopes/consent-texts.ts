/** The languages of the pages unless the host names others; the first one where a browser asks for none of them. */
export const languages = ['en', 'fr'] as const;

/** A language whose texts ship. */
export type Language = 'en' | 'fr' | 'ht' | 'es' | 'pt';

/** Explains in plain words what a scope gives. */
export interface ScopeTexts {
  readonly title: string;
  readonly detail: string;
}

/** Texts of the consent page about one scope, in the languages that ship. */
export type ConsentTexts = { readonly [L in Language]: ScopeTexts };

/** Texts of the consent page about every scope, by scope and language. */
export type Consents = { readonly [scope: string]: { readonly [tag: string]: ScopeTexts | undefined } };
