/** Error text for an authentication context class (`acr`) in a wrong format. */
export const contextClassWords = 'has to be 1 to 255 printable ASCII characters without spaces';

/**
 * Checks the format of an authentication context class (`acr`) or an authentication method (`amr`). Spaces
 * are not allowed, because they separate the values of `acr_values` (OpenID Connect Core, section 3.1.2.1).
 */
export const isContextClass = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7E]{1,255}$/.test(value);
