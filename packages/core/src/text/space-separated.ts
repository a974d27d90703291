/** Splits a list whose values are separated by spaces, such as `scope` (RFC 6749, section 3.3). Each value comes once. */
export const spaceSeparated = (text: string): string[] => [
  ...new Set(text.split(' ').filter((value) => value !== '')),
];
