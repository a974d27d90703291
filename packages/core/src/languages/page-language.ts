import { type Language, type Scope, scopeNames, scopes } from '../scopes.ts';
import { negotiateLanguage } from './negotiate.ts';
import { shippedTexts } from './shipped.ts';
import { holesOf, type Texts } from './texts.ts';

/** What a scope gives, in plain words. */
export interface ScopeTexts {
  readonly title: string;
  readonly detail: string;
}

/** Every word of the pages in a language of the host's. */
export type PageTexts = Texts & { readonly scopes: { readonly [S in Scope]: ScopeTexts } };

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

const isShipped = (tag: string): tag is Language => Object.hasOwn(shippedTexts, tag);

function shippedTextsOf(tag: Language): PageTexts {
  const ofScopes = scopeNames.map((name) => [name, scopes[name].consent[tag]]);
  return { ...shippedTexts[tag], scopes: Object.fromEntries(ofScopes) };
}

const english = shippedTextsOf('en');

const maxLength = 2000;

/** What is wrong with texts, by the path of each. @param model - the same in English */
function problemsOf(given: unknown, model: object, path: string, isWhole: boolean): string[] {
  if (typeof given !== 'object' || given === null) return [`${path}: has to be an object`];
  const wanted = new Map<string, unknown>(Object.entries(model));
  const unknown = Object.keys(given).filter((key) => !wanted.has(key) && key !== 'months');
  const found = unknown.map((key) => `${path}.${key}: there is no such text`);
  for (const [key, words] of wanted) {
    const own: unknown = Reflect.get(given, key);
    const place = `${path}.${key}`;
    if (own === undefined) {
      if (isWhole) found.push(`${place}: is missing`);
    } else if (typeof words !== 'string') {
      found.push(...problemsOf(own, Object(words), place, isWhole));
    } else if (typeof own !== 'string' || own.trim() === '' || own.length > maxLength) {
      found.push(`${place}: has to be a text of 1 to ${maxLength} characters`);
    } else if (holesOf(own).join() !== holesOf(words).join()) {
      const names = holesOf(words).map((name) => `{${name}}`);
      found.push(`${place}: has to hold ${names.join(' and ') || 'no braces'}`);
    }
  }
  return found;
}

function problemsOfMonths(months: unknown, path: string): string[] {
  const isRight =
    months === undefined ||
    (Array.isArray(months) &&
      months.length === 12 &&
      months.every((name) => typeof name === 'string' && name));
  return isRight ? [] : [`${path}.months: has to be twelve names`];
}

function merged<Whole extends object>(whole: Whole, part: object): Whole {
  const members = Object.entries(part).map(([key, value]) => {
    const own: unknown = Reflect.get(whole, key);
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [key, isNested && typeof own === 'object' && own !== null ? merged(own, value) : value];
  });
  return { ...whole, ...Object.fromEntries(members) };
}

/** So many problems are told at once. */
const maxTold = 5;

/**
 * The languages of the pages, in the order in which the host names them.
 * @throws TypeError that names texts which are missing or wrong, by their path
 */
export function pageLanguages(tags: readonly string[], texts: HostTexts): readonly PageLanguage[] {
  const problems: string[] = [];
  for (const [tag, own] of Object.entries(texts)) {
    const path = `texts.${tag}`;
    if (!tags.includes(tag)) problems.push(`${path}: languages does not name ${tag}`);
    else
      problems.push(
        ...problemsOf(own, english, path, !isShipped(tag)),
        ...problemsOfMonths(own?.months, path),
      );
  }
  for (const tag of tags) {
    if (!isShipped(tag) && texts[tag] === undefined)
      problems.push(`languages: ${tag} does not ship; give its words as texts.${tag}`);
  }
  if (problems.length > 0) {
    const more = problems.length > maxTold ? `; and ${problems.length - maxTold} more` : '';
    throw new TypeError(problems.slice(0, maxTold).join('; ') + more);
  }
  return tags.map((tag) => {
    const whole = isShipped(tag) ? shippedTextsOf(tag) : english;
    return { tag, texts: merged(whole, texts[tag] ?? {}) };
  });
}

/** The language of a page: see {@link negotiateLanguage}. */
export function choosePageLanguage(
  offered: readonly PageLanguage[],
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): PageLanguage {
  const tags = offered.map(({ tag }) => tag);
  const chosen = negotiateLanguage(uiLocales, acceptLanguage, tags);
  return offered.find(({ tag }) => tag === chosen) ?? { tag: 'en', texts: english };
}

/** A day as people write it. */
export function dayIn({ tag, texts: { months } }: PageLanguage, date: Date): string {
  if (months === undefined) return date.toLocaleDateString(tag, { dateStyle: 'long', timeZone: 'UTC' });
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
