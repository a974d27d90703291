import type { Language, ScopeTexts } from '../scopes/consent-texts.ts';
import type { Scope } from '../scopes/scopes.ts';
import { negotiateLanguage } from './negotiate.ts';
import type { Texts } from './texts.ts';

/** All texts of this service's pages in one language. */
export interface PageTexts extends Texts {
  /**
   * Texts of the built-in scopes and of enabled optional scopes. Texts of the host application's own scopes
   * are defined in the option `scopes`.
   */
  readonly scopes: { readonly [S in Scope]: ScopeTexts } & {
    readonly [scope: string]: ScopeTexts | undefined;
  };
}

type Partly<Whole> = {
  readonly [Key in keyof Whole]?: Whole[Key] extends string ? string : Partly<Whole[Key]>;
};

/**
 * Value of the option `texts`: all page texts of a language that is not built in, or some texts of a built-in
 * language.
 */
export type HostTexts = { readonly [Shipped in Language]?: Partly<PageTexts> } & {
  readonly [tag: string]: PageTexts | Partly<PageTexts> | undefined;
};

/** A language in which pages can be shown. */
export interface PageLanguage {
  /** Language tag (BCP 47), for the attribute `lang` of a document. */
  readonly tag: string;
  readonly texts: PageTexts;
}

/** Chooses the language of a page for a request; see {@link negotiateLanguage}. */
export function choosePageLanguage(
  offered: readonly PageLanguage[],
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): PageLanguage {
  const tags = offered.map(({ tag }) => tag);
  const chosen = negotiateLanguage(uiLocales, acceptLanguage, tags);
  return offered.find(({ tag }) => tag === chosen) ?? (offered[0] as PageLanguage);
}

/**
 * Returns the time zone of a user record in the form that `Intl` takes; `null` if the record names none, or
 * an unknown one.
 */
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

/**
 * Formats the date of a time in the user's time zone. If the time zone is not known (`null`), formats the
 * date in UTC and adds "UTC".
 */
export function userDayIn(language: PageLanguage, date: Date, timeZone: string | null): string {
  if (timeZone === null) return `${dayIn(language, date, 'UTC')} (UTC)`;
  return dayIn(language, date, timeZone);
}
