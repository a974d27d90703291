/** Maximum length of the stored search form of a name, in characters. The rest is cut off. */
const maxLength = 200;

/**
 * Returns the form of a name by which lists are sorted and searched: lower-case words without accents,
 * separated by one space. `Sèvis Rapid 13` becomes `sevis rapid 13`. Computed in JavaScript, because
 * databases differ in which letters they consider equal.
 */
export const searchNameOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();
