import en from '../../languages/en.json' with { type: 'json' };
import es from '../../languages/es.json' with { type: 'json' };
import fr from '../../languages/fr.json' with { type: 'json' };
import ht from '../../languages/ht.json' with { type: 'json' };
import pt from '../../languages/pt.json' with { type: 'json' };

/** Default languages of the pages. The first is used if a browser accepts none of them. */
export const languages = ['en', 'fr'] as const;

/** Tag of a built-in language. */
export type Language = 'en' | 'fr' | 'ht' | 'es' | 'pt';

/** Texts that explain to users what access a scope gives. */
export interface ScopeTexts {
  readonly title: string;
  readonly detail: string;
}

/** Texts of the consent page about one scope, in all built-in languages. */
export type ConsentTexts = { readonly [L in Language]: ScopeTexts };

/** Contents of the language files of the built-in languages. */
export const languageFiles = { en, fr, ht, es, pt };

/** Returns the texts of a built-in scope in every built-in language. A missing text is a compile error. */
export function consentTexts(scope: keyof typeof en.scopes): ConsentTexts {
  return {
    en: en.scopes[scope],
    fr: fr.scopes[scope],
    ht: ht.scopes[scope],
    es: es.scopes[scope],
    pt: pt.scopes[scope],
  };
}

/** Texts of the consent page about all scopes, by scope and language. */
export type Consents = { readonly [scope: string]: { readonly [tag: string]: ScopeTexts | undefined } };
