import type { Language, ScopeTexts } from '../scopes/consent-texts.ts';
import type { Scope } from '../scopes/scopes.ts';
import { negotiateLanguage } from './negotiate.ts';
import type { Texts } from './texts.ts';

/** All texts of the pages in a language of the host. */
export interface PageTexts extends Texts {
  /**
   * Texts of the built-in scopes and of those that are switched on. Your own scopes bring their texts with
   * them.
   */
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

/** The time zone of a user record as `Intl` takes it; `null` if the record names none, or an unknown one. */
export function timeZoneOf(zoneinfo: unknown): string | null {
  if (typeof zoneinfo !== 'string') return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zoneinfo }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

function dayIn({ tag, texts: { months } }: PageLanguage, date: Date, timeZone: string): string {
  if (months === undefined) return date.toLocaleDateString(tag, { dateStyle: 'long', timeZone });
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  const part = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
  return `${part.day} ${months[Number(part.month) - 1]} ${part.year}`;
}

/** Writes the day of a time in the user's time zone. If that is not known (`null`), writes the day in UTC and says so. */
export function userDayIn(language: PageLanguage, date: Date, timeZone: string | null): string {
  if (timeZone === null) return `${dayIn(language, date, 'UTC')} (UTC)`;
  return dayIn(language, date, timeZone);
}
