/**
 * Returns the form in which URIs are compared: case of the host, default port and an empty path make no difference (RFC 3986, section 6.2),
 * as libraries of apps write them in one way or the other. `null` for text that is no resource URI (RFC 8707, section 2).
 */
export function comparableUri(text: string): string | null {
  if (!/^[\x21\x23-\x5B\x5D-\x7E]+$/.test(text) || text.includes('#') || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url.href : null;
}
