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

/** What the page of an error is about. */
export type ErrorKind =
  | 'unknown_client'
  | 'redirect_mismatch'
  | 'invalid_request'
  | 'expired'
  | 'csrf'
  | 'not_found'
  | 'rate_limited'
  | 'unavailable'
  | 'internal'
  | 'method';

/**
 * Every word of the pages in one language; what each scope gives stands in the scope table. A name in braces, such as `{client}`,
 * is where the pages put something in.
 */
export interface Texts {
  readonly signedInAs: string;
  readonly consent: {
    readonly [Words in
      | 'title'
      | 'switchAccount'
      | 'scopes'
      | 'onlyNew'
      | 'newBadge'
      | 'noPassword'
      | 'withdraw'
      | 'sentBack'
      | 'approve'
      | 'deny'
      | 'terms'
      | 'privacy']: string;
  } & {
    /** Follows the client's name in the heading. */
    readonly ask: string;
  };
  readonly apps: {
    readonly [Words in
      | 'title'
      | 'intro'
      | 'since'
      | 'changed'
      | 'remove'
      | 'removed'
      | 'emptyTitle'
      | 'empty']: string;
  } & {
    /** Follows `remove` for those who hear the page. */
    readonly removeOf: string;
  };
  readonly logout: { readonly [Words in 'title' | 'ask' | 'askedBy' | 'leave' | 'stay']: string } & {
    readonly [Page in 'left' | 'stayed']: { readonly title: string; readonly advice: string };
  };
  readonly errors: { readonly [Kind in ErrorKind]: { readonly title: string; readonly advice: string } };
  readonly technical: string;
  readonly reference: string;
  /** Names of the twelve months, where `Intl` does not know the language: dates are then `5 janvye 2026`. */
  readonly months?: readonly string[];
}

/** What is put into a text stands in braces. */
export const holes = /\{(\w+)\}/;

/** The names in the braces of a text, in the order of the alphabet. */
export function holesOf(template: string): string[] {
  return [...template.matchAll(new RegExp(holes, 'g'))].map(([, name = '']) => name).sort();
}
