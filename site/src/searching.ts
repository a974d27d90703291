import { addressOf } from './repository.ts';
import { synonyms } from './synonyms.ts';
import { version } from './version.ts';

const synonymsById = new Map(
  Object.entries(synonyms).map(([page, words]) => [`${version.base}${addressOf(page).slice(1)}`, words]),
);

/** Section of a page, as VitePress indexes it. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly titles: readonly string[];
  readonly text: string;
}

/** Returns the synonyms of a page for the page's first section, which has no section above it. */
const synonymsOf = ({ id, titles }: Section): string =>
  titles.length > 0 ? '' : (synonymsById.get(id.replace(/#.*/, '')) ?? '');

/**
 * Search settings of the site, which split questions into words. The browser runs these functions, too, so
 * each function is self-contained, except for `extractField`, which only the build calls.
 */
export const searching = {
  options: {
    fields: ['title', 'titles', 'text', 'synonyms'],
    extractField: (section: Section, field: keyof Section | 'synonyms'): unknown =>
      field === 'synonyms' ? synonymsOf(section) : section[field],
    /** Returns a word in its indexed form, or null for words that every question has. */
    processTerm: (term: string): string | null => {
      const word = term.toLowerCase();
      const empty =
        /^(?:a|an|and|are|as|at|be|by|can|do|does|for|from|get|has|have|how|i|if|in|into|is|it|its|me|must|my|of|on|one|or|our|should|so|than|that|the|their|them|there|they|this|to|use|was|we|when|where|which|who|why|will|with|without|you|your)$/;
      return empty.test(word) ? null : word.replace(/(?:'s|ies|es|s|ing|ed)$/, '');
    },
  },
  searchOptions: {
    fuzzy: (term: string): number | false => (term.length > 5 ? 0.2 : false),
    prefix: (term: string): boolean => term.length > 2,
    boost: { title: 4, titles: 3, text: 1, synonyms: 6 },
    /**
     * Ranks explaining pages before tables and packages in search results, because questions need an
     * explanation.
     */
    boostDocument: (id: string): number =>
      /\/(?:reference|packages)\/(?!listen)|\/reference-server/.test(id) ? 0.6 : 1,
  },
};
