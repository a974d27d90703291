import en from '../../languages/en.json' with { type: 'json' };
import fr from '../../languages/fr.json' with { type: 'json' };
import type { Consents, Language } from '../scopes/consent-texts.ts';
import type { HostTexts, PageLanguage, PageTexts } from './page-language.ts';
import type { Texts } from './texts.ts';

/** The languages that ship, by their tags. Those that are not on by default are loaded where the host names them. */
const shipped: { readonly [L in Language]: () => Promise<Texts> } = {
  en: async () => en,
  fr: async () => fr,
  ht: async () => (await import('../../languages/ht.json', { with: { type: 'json' } })).default,
  es: async () => (await import('../../languages/es.json', { with: { type: 'json' } })).default,
  pt: async () => (await import('../../languages/pt.json', { with: { type: 'json' } })).default,
};

export const shippedLanguages = Object.keys(shipped) as readonly Language[];

/** The words of a language; `null` where none ship. */
async function shippedTexts(tag: string): Promise<Texts | null> {
  return Object.hasOwn(shipped, tag) ? shipped[tag as Language]() : null;
}

/** Returns the texts of every scope in one language. */
function scopesIn(tag: string, consents: Consents): object {
  const words = Object.entries(consents).map(([name, { [tag]: texts }]) => [name, texts] as const);
  return Object.fromEntries(words.filter(([, texts]) => texts !== undefined));
}

/**
 * The option `languages`: the languages of the pages, in the order in which the host names them.
 * @throws TypeError that names texts which are missing or wrong, by their path
 */
export async function loadLanguages(
  tags: readonly string[],
  texts: HostTexts,
  consents: Consents,
): Promise<readonly PageLanguage[]> {
  for (const tag of Object.keys(texts))
    if (!tags.includes(tag)) throw new TypeError(`texts.${tag}: languages does not name ${tag}`);
  const hostTexts = Object.keys(texts).length === 0 ? null : await import('./host-texts.ts');
  const all = tags.map(async (tag) => {
    const [shipped, own] = [await shippedTexts(tag), texts[tag]];
    if (shipped === null && own === undefined)
      throw new TypeError(`languages: ${tag} does not ship; give its words as texts.${tag}`);
    const known = { ...shipped, scopes: scopesIn(tag, consents) };
    // The compiler checks texts that ship, and texts of scopes are checked with the scopes.
    const isWhole = own === undefined || hostTexts === null;
    return {
      tag,
      texts: isWhole ? (known as PageTexts) : hostTexts.withHostTexts(tag, known, own, consents),
    };
  });
  return Promise.all(all);
}
