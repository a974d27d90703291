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
export type PageTexts = Texts & {
  /** Of the five scopes and of those that are switched on; scopes of your own have their texts with them. */
  readonly scopes: { readonly [S in Scope]: ScopeTexts } & {
    readonly [scope: string]: ScopeTexts | undefined;
  };
};

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

/** What the consent page says of scopes, by scope and language. */
type Consents = { readonly [scope: string]: { readonly [tag: string]: ScopeTexts | undefined } };

/** What is there in a language before the host says anything. */
function textsIn(tag: string, more: Consents): object {
  const own = Object.entries(more).flatMap(([name, { [tag]: words }]) =>
    words ? [[name, words] as const] : [],
  );
  if (!isShipped(tag)) return { scopes: Object.fromEntries(own) };
  const five = scopeNames.map((name) => [name, scopes[name].consent[tag]] as const);
  return { ...shippedTexts[tag], scopes: Object.fromEntries([...five, ...own]) };
}

function merged(whole: object, part: object): object {
  const members = Object.entries(part).map(([key, value]) => {
    const own: unknown = Reflect.get(whole, key);
    const areBoth = [own, value].every(
      (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
    );
    return [key, areBoth ? merged(Object(own), Object(value)) : value];
  });
  return { ...whole, ...Object.fromEntries(members) };
}

const maxLength = 2000;

/** What is wrong with texts, by the path of each. @param model - the same in English */
function problemsOf(given: unknown, model: object, path: string): string[] {
  if (typeof given !== 'object' || given === null) return [`${path}: has to be an object`];
  const wanted = new Map<string, unknown>(Object.entries(model));
  const unknown = Object.keys(given).filter((key) => !wanted.has(key) && key !== 'months');
  const found = unknown.map((key) => `${path}.${key}: there is no such text`);
  for (const [key, words] of wanted) {
    const own: unknown = Reflect.get(given, key);
    const place = `${path}.${key}`;
    if (own === undefined) {
      found.push(`${place}: is missing`);
    } else if (typeof words !== 'string') {
      found.push(...problemsOf(own, Object(words), place));
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

/** So many problems are told at once. */
const maxTold = 5;

/**
 * The languages of the pages, in the order in which the host names them.
 * @param more - what the consent page says of scopes beside the five
 * @throws TypeError that names texts which are missing or wrong, by their path
 */
export function pageLanguages(
  tags: readonly string[],
  texts: HostTexts,
  more: Consents = {},
): readonly PageLanguage[] {
  const anyWords = Object.keys(more).map((name) => [name, { title: 'title', detail: 'detail' }] as const);
  const model = merged(textsIn('en', {}), { scopes: Object.fromEntries(anyWords) });
  const problems = Object.keys(texts)
    .filter((tag) => !tags.includes(tag))
    .map((tag) => `texts.${tag}: languages does not name ${tag}`);
  const languages = tags.map((tag) => {
    const own = texts[tag];
    const path = `texts.${tag}`;
    const whole = merged(textsIn(tag, more), Object(own));
    if (own === undefined && !isShipped(tag))
      problems.push(`languages: ${tag} does not ship; give its words as ${path}`);
    else if (own !== undefined && (typeof own !== 'object' || own === null))
      problems.push(`${path}: has to be an object`);
    else problems.push(...problemsOf(whole, model, path), ...problemsOfMonths(own?.months, path));
    // Checked above.
    return { tag, texts: whole as PageTexts };
  });
  if (problems.length > 0) {
    const untold = problems.length > maxTold ? `; and ${problems.length - maxTold} more` : '';
    throw new TypeError(problems.slice(0, maxTold).join('; ') + untold);
  }
  return languages;
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
