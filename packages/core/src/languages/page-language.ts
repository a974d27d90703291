import { z } from 'zod';
import { inOneLine, inPlainWords, problemsOf } from '../plain-words.ts';
import type { Scope } from '../scopes.ts';
import { negotiateLanguage } from './negotiate.ts';
import { shippedTexts } from './shipped.ts';
import { holesOf, type Language, type ScopeTexts, type Texts } from './texts.ts';

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

const isShipped = (tag: string): tag is Language => Object.hasOwn(shippedTexts, tag);

/** What is there in a language before the host says anything. */
function textsIn(tag: string, consents: Consents): object {
  const words = Object.entries(consents).map(([name, { [tag]: texts }]) => [name, texts] as const);
  const scopes = Object.fromEntries(words.filter(([, texts]) => texts !== undefined));
  return isShipped(tag) ? { ...shippedTexts[tag], scopes } : { scopes };
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

/** What stands in the place of an English text. */
function wordsFor(english: string): z.ZodType<string> {
  const names = holesOf(english);
  const wanted = names.map((name) => `{${name}}`).join(' and ') || 'no braces';
  return z
    .string()
    .max(2000)
    .refine((own) => own.trim() !== '', 'is empty')
    .refine((own) => holesOf(own).join() === names.join(), `has to hold ${wanted}`);
}

/** Of texts that are the same in English. */
function schemaFor(english: object): z.ZodObject {
  const members = Object.entries(english).map(([key, words]) => {
    return [key, typeof words === 'string' ? wordsFor(words) : schemaFor(Object(words))];
  });
  return z.strictObject(Object.fromEntries(members));
}

/** Of all words of a language. */
function schemaOf(consents: Consents): z.ZodObject {
  const anyWords = Object.keys(consents).map((name) => [name, { title: 'title', detail: 'detail' }] as const);
  return schemaFor({ ...shippedTexts.en, scopes: Object.fromEntries(anyWords) }).extend({
    months: z.array(z.string().min(1)).length(12).optional(),
  });
}

/**
 * The languages of the pages, in the order in which the host names them.
 * @throws TypeError that names texts which are missing or wrong, by their path
 */
export function pageLanguages(
  tags: readonly string[],
  texts: HostTexts,
  consents: Consents,
): readonly PageLanguage[] {
  for (const tag of Object.keys(texts))
    if (!tags.includes(tag)) throw new TypeError(`texts.${tag}: languages does not name ${tag}`);
  return tags.map((tag) => {
    if (!isShipped(tag) && texts[tag] === undefined)
      throw new TypeError(`languages: ${tag} does not ship; give its words as texts.${tag}`);
    const known = textsIn(tag, consents);
    // What ships is checked by the compiler, and words of scopes with the scopes.
    if (texts[tag] === undefined) return { tag, texts: known as PageTexts };
    const whole = merged(known, texts[tag]);
    const { error } = schemaOf(consents).safeParse(whole, inPlainWords);
    if (error !== undefined) {
      const found = problemsOf(error.issues).map(({ path, message }) => ({
        path: `texts.${tag}.${path}`,
        message,
      }));
      throw new TypeError(inOneLine(found, 'texts'));
    }
    return { tag, texts: whole as PageTexts };
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
  return offered.find(({ tag }) => tag === chosen) ?? (offered[0] as PageLanguage);
}

/** A day as people write it. */
export function dayIn({ tag, texts: { months } }: PageLanguage, date: Date): string {
  if (months === undefined) return date.toLocaleDateString(tag, { dateStyle: 'long', timeZone: 'UTC' });
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
