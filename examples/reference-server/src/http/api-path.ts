/**
 * Whether a request is for the API, however its path is written: in another case, percent-encoded, or with dots and
 * slashes too many. Most of these lead nowhere, and the API is who says so: in JSON.
 */
export function isApiPath(target: string): boolean {
  // An absolute request target names a host too (RFC 9112, section 3.2.2).
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*/s, '');
  let text = path;
  try {
    text = decodeURIComponent(path);
  } catch {
    // As it came.
  }
  const plain = new URL(`http://host/${text}`).pathname;
  return [path, plain].some((spelling) => /^\/+v1(\/|$)/i.test(spelling));
}
