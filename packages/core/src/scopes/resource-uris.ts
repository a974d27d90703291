/**
 * Returns a canonical form in which resource URIs are compared. Upper and lower case of the host name, the
 * default port and an empty path make no difference (RFC 3986, section 6.2), because apps' libraries write
 * them differently. `null` for text that is no resource URI (RFC 8707, section 2).
 */
export function comparableUri(text: string): string | null {
  if (!/^[\x21\x23-\x5B\x5D-\x7E]+$/.test(text) || text.includes('#') || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url.href : null;
}
