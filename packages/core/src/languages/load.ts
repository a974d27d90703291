import { type Consents, type Language, languageFiles } from '../scopes/consent-texts.ts';
import type { HostTexts, PageLanguage, PageTexts } from './page-language.ts';
import type { Texts } from './texts.ts';

/** Page texts of the built-in languages. A missing text is a compile error. */
const shippedTexts: { readonly [L in Language]: Texts } = languageFiles;

export const shippedLanguages = Object.keys(shippedTexts) as readonly Language[];

const isShipped = (tag: string): tag is Language => Object.hasOwn(shippedTexts, tag);

/** Returns the texts of the consent page about all scopes that have texts in this language, by scope. */
function scopesIn(tag: string, consents: Consents): object {
  const words = Object.entries(consents).map(([name, { [tag]: texts }]) => [name, texts] as const);
  return Object.fromEntries(words.filter(([, texts]) => texts !== undefined));
}

/**
 * Loads the page texts of the languages in the option `languages`, in its order.
 * @throws TypeError that names missing and wrong texts by their path
 */
export async function loadLanguages(
  tags: readonly string[],
  texts: HostTexts,
  consents: Consents,
): Promise<readonly PageLanguage[]> {
  for (const tag of Object.keys(texts))
    if (!tags.includes(tag)) throw new TypeError(`texts.${tag}: languages does not name ${tag}`);
  const hostTexts = Object.keys(texts).length === 0 ? null : await import('./host-texts.ts');
  return tags.map((tag) => {
    const own = texts[tag];
    if (!isShipped(tag) && own === undefined)
      throw new TypeError(`languages: ${tag} does not ship; give its words as texts.${tag}`);
    const known = { ...(isShipped(tag) && shippedTexts[tag]), scopes: scopesIn(tag, consents) };
    // Built-in texts are checked by the compiler, and texts of scopes with the scopes.
    const isWhole = own === undefined || hostTexts === null;
    return {
      tag,
      texts: isWhole ? (known as PageTexts) : hostTexts.withHostTexts(tag, known, own, consents),
    };
  });
}
