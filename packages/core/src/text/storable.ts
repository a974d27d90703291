/**
 * Checks whether a text contains U+0000 or half of a surrogate pair. PostgreSQL refuses U+0000, and drivers store
 * another character in place of a lone surrogate.
 */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}
