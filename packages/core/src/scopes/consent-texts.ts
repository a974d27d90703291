import en from '../../languages/en.json' with { type: 'json' };
import es from '../../languages/es.json' with { type: 'json' };
import fr from '../../languages/fr.json' with { type: 'json' };
import ht from '../../languages/ht.json' with { type: 'json' };
import pt from '../../languages/pt.json' with { type: 'json' };

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

/** Language files that ship. */
export const languageFiles = { en, fr, ht, es, pt };

/** Returns the texts of a scope of ours in every language that ships; a missing text does not compile. */
export function consentTexts(scope: keyof typeof en.scopes): ConsentTexts {
  return {
    en: en.scopes[scope],
    fr: fr.scopes[scope],
    ht: ht.scopes[scope],
    es: es.scopes[scope],
    pt: pt.scopes[scope],
  };
}

/** Texts of the consent page about every scope, by scope and language. */
export type Consents = { readonly [scope: string]: { readonly [tag: string]: ScopeTexts | undefined } };
