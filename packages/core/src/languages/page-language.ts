import type { Scope } from '../scopes.ts';
import { negotiateLanguage } from './negotiate.ts';
import type { Language, ScopeTexts, Texts } from './texts.ts';

/** Every word of the pages in a language of the host's. */
export interface PageTexts extends Texts {
  /** Of the five scopes and of those that are switched on; scopes of your own have their texts with them. */
  readonly scopes: { readonly [S in Scope]: ScopeTexts } & {
    readonly [scope: string]: ScopeTexts | undefined;
  };
}

type Partly<Whole> = {
  readonly [Key in keyof Whole]?: Whole[Key] extends string ? string : Partly<Whole[Key]>;
};

/** The option `texts`: all words of a language that does not ship, and any of one that does. */
export type HostTexts = { readonly [Shipped in Language]?: Partly<PageTexts> } & {
  readonly [tag: string]: PageTexts | Partly<PageTexts> | undefined;
};

/** What the consent page says of every scope, by scope and language. */
export type Consents = { readonly [scope: string]: { readonly [tag: string]: ScopeTexts | undefined } };

/** A language in which pages are answered. */
export interface PageLanguage {
  /** BCP 47, as `lang` of a document takes it. */
  readonly tag: string;
  readonly texts: PageTexts;
}

/** The language of a page: see {@link negotiateLanguage}. */
export function choosePageLanguage(
  offered: readonly PageLanguage[],
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): PageLanguage {
  const tags = offered.map(({ tag }) => tag);
  const chosen = negotiateLanguage(uiLocales, acceptLanguage, tags);
  return offered.find(({ tag }) => tag === chosen) ?? (offered[0] as PageLanguage);
}

/** A day as people write it. */
export function dayIn({ tag, texts: { months } }: PageLanguage, date: Date): string {
  if (months === undefined) return date.toLocaleDateString(tag, { dateStyle: 'long', timeZone: 'UTC' });
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
