/** Splits a space-separated list, such as `scope` (RFC 6749, section 3.3), and removes duplicates. */
export const spaceSeparated = (text: string): string[] => [
  ...new Set(text.split(' ').filter((value) => value !== '')),
];
