/**
 * Search settings of the site, which split questions into words. The browser runs this too, so each function
 * is self-contained.
 */
export const searching = {
  options: {
    /** Returns a word in its indexed form, or null for words that every question has. */
    processTerm: (term: string): string | null => {
      const word = term.toLowerCase();
      const empty =
        /^(?:a|an|and|are|as|at|be|by|can|do|does|for|from|get|has|have|how|i|if|in|into|is|it|its|me|must|my|of|on|one|or|our|should|so|than|that|the|their|them|there|they|this|to|use|was|we|what|when|where|which|who|why|will|with|without|you|your)$/;
      return empty.test(word) ? null : word.replace(/(?:'s|ies|es|s|ing|ed)$/, '');
    },
  },
  searchOptions: {
    fuzzy: (term: string): number | false => (term.length > 5 ? 0.2 : false),
    prefix: (term: string): boolean => term.length > 2,
    boost: { title: 4, titles: 3, text: 1 },
    /** Ranks pages that explain before tables and packages, because questions need an explanation. */
    boostDocument: (id: string): number =>
      /\/(?:reference|packages)\/|\/reference-server/.test(id) ? 0.6 : 1,
  },
};
